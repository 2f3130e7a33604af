// One picture with its title, its words and its strip of marks. Shows the frame it is told to show.

const WORDS = ["goal", "action", "reward"];

function element(tag, className, text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text; // never as HTML: names come from files
  return made;
}

class Pane {
  constructor(onPick) {
    this.root = element("div", "pane");
    this.title = element("div", "title");
    this.screen = element("div", "screen");
    this.canvas = element("canvas", "");
    this.table = element("table", "");
    this.screen.append(this.canvas, this.table);
    this.words = Object.fromEntries(WORDS.map((word) => [word, element("dd", word)]));
    const says = element("dl", "says");
    for (const word of WORDS) says.append(element("dt", "", word), this.words[word]);
    this.strip = element("div", "strip");
    this.strip.title = "Click to go there";
    this.cursor = element("div", "cursor");
    const body = element("div", "body");
    body.append(this.screen, says);
    this.root.append(this.title, body, this.strip);
    this.strip.onclick = (event) => {
      const box = this.strip.getBoundingClientRect();
      const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
      onPick(this.first + Math.round(share * (this.last - this.first)));
    };
  }

  take({ title, source, first, last, segments, marks }, { pictured, width, height }) {
    Object.assign(this, { source, first, last, segments });
    this.title.textContent = title;
    this.canvas.hidden = !pictured;
    this.canvas.style.display = pictured ? "block" : "none";
    if (pictured && (this.canvas.width !== width || this.canvas.height !== height)) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    this.strip.replaceChildren(...marks.map((mark) => this.#mark(mark)), this.cursor);
  }

  // Frame at position s of the common clock; a pane that is through with a segment waits at its end.
  frameAt(s) {
    const [start, frame, length] = this.segments.findLast(([from]) => from <= s);
    return frame + Math.min(s - start, length);
  }

  // First position of the common clock at which this pane shows the frame.
  clockAt(frame) {
    const [start, from] = this.segments.findLast(([, from, length]) => from <= frame && (length || from === frame))
      ?? this.segments[0];
    return start + frame - from;
  }

  show(frame, found) {
    this.cursor.style.left = this.#place(frame);
    this.screen.classList.toggle("waiting", !found);
    if (!found) return;
    const { image, facts, i, x, y } = found;
    for (const word of WORDS) this.words[word].textContent = facts[word][i];
    this.table.replaceChildren(...(facts.observation?.[i] ?? []).map(([name, value]) => {
      const row = element("tr", "");
      row.append(element("td", "", name), element("td", "", value));
      return row;
    }));
    if (!image) return;
    const { width, height } = this.canvas;
    const brush = this.canvas.getContext("2d");
    brush.imageSmoothingEnabled = false;
    brush.drawImage(image, x, y, width, height, 0, 0, width, height);
  }

  #place(frame) {
    return `${(100 * (frame - this.first)) / Math.max(this.last - this.first, 1)}%`;
  }

  #mark({ t, kind, label }) {
    const mark = element("div", `mark ${kind}`);
    mark.style.left = this.#place(t);
    mark.title = label;
    return mark;
  }
}
