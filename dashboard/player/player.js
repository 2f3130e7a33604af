// Plays an episode, or two beside each other, without asking the server for every frame: it draws from sprite sheets,
// asks for the next sheet ahead of time, and tells where it is only when it has come to rest.

const REST = 150; // milliseconds without a move before the place is reported
const STRIDE = 10; // steps of an arrow key with Shift
const PLAY = "M7 4v16l13-8z";
const PAUSE = "M7 5v14M17 5v14";
const TAKES_KEYS = "input, textarea, select, [contenteditable], [role=slider], [role=listbox], [role=grid], [role=tab]";
const TAKES_SPACE = "button, a, summary, [role=button], [role=radio], [role=switch]";

class Player {
  constructor(root) {
    this.root = root;
    this.find = (name) => root.querySelector(name);
    this.tiles = new Tiles(() => this.draw());
    this.panes = [];
    this.applied = null; // the last order of the server that was carried out
    this.playing = false;
    this.active = 0;
    this.find(".bar").onclick = ({ target }) => this.act(target.closest("[data-do]")?.dataset.do);
    this.find(".scrub").oninput = ({ target }) => this.seek(Number(target.value));
    this.find(".size").oninput = () => this.resize();
    this.find(".frame").onkeydown = (event) => { if (event.key === "Enter") this.jump(event.target); };
    this.find(".frame").onblur = () => this.draw();
    this.keys = (event) => this.press(event);
    document.addEventListener("keydown", this.keys);
  }

  take({ data, setStateValue, setTriggerValue }) {
    Object.assign(this, { setStateValue, setTriggerValue, locked: data.locked, length: data.length });
    if (this.panes.length !== data.panes.length) this.#build(data.panes.length);
    this.root.classList.toggle("several", data.panes.length > 1);
    this.root.classList.toggle("free", !data.locked);
    if (data.content !== this.content) {
      this.content = data.content;
      this.tiles = new Tiles(() => this.draw());
    }
    data.panes.forEach((pane, i) => this.panes[i].take(pane, data.sources[pane.source]));
    this.tiles.take(data.sources, data.tiles, data.stills);
    if (data.order !== this.applied) {
      this.applied = data.order;
      this.clock = data.clock;
      this.frames = [...data.frames];
      this.stop(false);
    }
    this.resize();
  }

  act(what) {
    const limits = this.#limits();
    if (what === "first") this.seek(limits[0]);
    if (what === "last") this.seek(limits[1]);
    if (what === "back") this.seek(this.#at() - 1);
    if (what === "on") this.seek(this.#at() + 1);
    if (what === "play") this.playing ? this.stop(true) : this.play();
  }

  press(event) {
    if (!this.root.isConnected) return document.removeEventListener("keydown", this.keys);
    const [target] = event.composedPath();
    const own = event.composedPath().includes(this.root) && !target.matches("input[type=text], select");
    const taken = target.matches?.(TAKES_KEYS) || (event.key === " " && target.closest?.(TAKES_SPACE));
    if ((taken && !own) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^[0-9]$/.test(event.key)) return this.#type(event);
    const stride = event.shiftKey ? STRIDE : 1;
    const moves = {
      " ": () => this.act("play"),
      ArrowLeft: () => this.seek(this.#at() - stride),
      ArrowRight: () => this.seek(this.#at() + stride),
      Home: () => this.act("first"),
      End: () => this.act("last"),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
  }

  jump(box) {
    const wanted = Number.parseInt(box.value, 10);
    box.blur();
    if (!Number.isNaN(wanted)) this.seek(this.locked && this.panes.length === 1 ? this.panes[0].clockAt(wanted) : wanted);
  }

  // To a position of the common clock, or of the active pane when the cursors are free.
  seek(position) {
    this.playing = false;
    this.#go(position);
    this.#reportSoon();
  }

  play() {
    if (this.#at() >= this.#limits()[1]) this.#go(this.#limits()[0]);
    this.playing = true;
    this.due = 0;
    this.before = performance.now();
    requestAnimationFrame(() => this.tick());
    this.draw();
  }

  tick() {
    if (!this.playing || !this.root.isConnected) return;
    const now = performance.now();
    this.due += ((now - this.before) * Number(this.find(".speed").value)) / 1000;
    this.before = now;
    const whole = Math.floor(this.due);
    if (!this.#ready()) {
      this.due = 0; // waits for its sheet instead of leaping over it
      this.ask();
    } else if (whole > 0) {
      this.due -= whole;
      this.#go(this.#at() + whole);
      if (this.#at() >= this.#limits()[1]) return this.stop(true);
    }
    requestAnimationFrame(() => this.tick());
  }

  stop(report) {
    this.playing = false;
    if (report) this.#reportSoon();
    this.draw();
  }

  resize() {
    const size = `${this.find(".size").value}px`;
    for (const pane of this.panes) pane.screen.style.width = size;
    this.draw();
  }

  draw() {
    if (!this.panes.length || this.clock === undefined) return;
    this.panes.forEach((pane, i) => {
      pane.root.classList.toggle("active", !this.locked && i === this.active);
      pane.show(this.frames[i], this.tiles.look(pane.source, this.frames[i]));
    });
    const [low, high] = this.#limits();
    const scrub = this.find(".scrub");
    Object.assign(scrub, { min: low, max: high, value: this.#at() });
    const box = this.find(".frame");
    const single = this.panes.length === 1;
    if (this.root.getRootNode().activeElement !== box) box.value = single ? this.frames[0] : this.#at();
    this.find(".of").textContent = `of ${single ? this.panes[0].last : high}`;
    const play = this.find("[data-do=play]");
    play.querySelector("path").setAttribute("d", this.playing ? PAUSE : PLAY);
    play.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.root.dataset.frames = this.frames.join(",");
    this.root.dataset.ready = String(this.#ready());
    this.ask();
  }

  // The sheets of the frames in view and, early enough, the ones after them.
  ask() {
    const wanted = this.panes.flatMap((pane, i) => {
      const { frames } = this.tiles.sources[pane.source];
      const tile = Math.floor(this.frames[i] / frames);
      const soon = Math.min(Math.floor((this.frames[i] + frames * 0.6) / frames), Math.floor(pane.last / frames));
      return soon > tile ? [[pane.source, tile], [pane.source, soon]] : [[pane.source, tile]];
    });
    if (this.resting) return; // the report comes first: its answer brings the frame itself
    const due = this.tiles.missing(wanted);
    if (due.length) this.setTriggerValue("want", due);
    clearTimeout(this.again); // an answer can be lost when the page runs anew meanwhile
    if (!this.tiles.holds(wanted)) this.again = setTimeout(() => this.root.isConnected && this.ask(), PATIENCE + 100);
  }

  #build(count) {
    this.panes = Array.from({ length: count }, (_, i) => new Pane((frame) => {
      this.active = i;
      this.seek(this.locked ? this.panes[i].clockAt(frame) : frame);
    }));
    this.panes.forEach((pane, i) => pane.root.addEventListener("pointerdown", () => { this.active = i; this.draw(); }));
    this.find(".panes").replaceChildren(...this.panes.map((pane) => pane.root));
    this.active = 0;
    this.applied = null;
  }

  #at() {
    return this.locked ? this.clock : this.frames[this.active];
  }

  #limits() {
    if (this.locked) return [0, this.length];
    const { first, last } = this.panes[this.active];
    return [first, last];
  }

  #go(position) {
    const [low, high] = this.#limits();
    const at = Math.min(Math.max(position, low), high);
    if (this.locked) {
      this.clock = at;
      this.frames = this.panes.map((pane) => pane.frameAt(at));
    } else {
      this.frames[this.active] = at;
    }
    this.draw();
  }

  #ready() {
    return this.panes.every((pane, i) => this.tiles.look(pane.source, this.frames[i]));
  }

  // After a move that the sheets here could follow, when it is over; after a jump beyond them at once, if not too often.
  #reportSoon() {
    clearTimeout(this.resting);
    const waited = performance.now() - (this.told ?? -Infinity);
    this.resting = setTimeout(() => this.#report(), this.#ready() || waited < REST ? REST : 0);
  }

  #report() {
    this.resting = null;
    this.told = performance.now();
    if (!this.playing && this.root.isConnected) {
      this.setStateValue("place", { content: this.content, clock: this.clock, frames: [...this.frames] });
    }
    this.draw();
  }

  #type(event) {
    const box = this.find(".frame");
    event.preventDefault();
    box.focus();
    box.value = event.key;
  }
}

const players = new WeakMap(); // by root element: Streamlit calls again and again for the same one

export default function (component) {
  const root = component.parentElement.querySelector(".player");
  if (!players.has(root)) players.set(root, new Player(root));
  players.get(root).take(component);
}
