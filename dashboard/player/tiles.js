// The pictures and words of frames: sprite sheets that have come from the server, and which are still missing.
// Knows no cursor and no page.

const HELD = 8; // decoded sheets, some 8 MB each
const PATIENCE = 4000; // milliseconds before a sheet that did not come is asked for again

class Tiles {
  constructor(onArrival) {
    this.onArrival = onArrival;
    this.held = new Map(); // "source:tile" -> {image, facts}, least recently used first
    this.asked = new Map(); // "source:tile" -> when
    this.stills = new Map(); // "source:frame" -> {image, facts}: the frame just jumped to, before its sheet is there
  }

  take(sources, tiles, stills) {
    this.sources = sources;
    for (const { source, tile, url, facts } of tiles) this.#load(this.held, `${source}:${tile}`, url, facts, HELD);
    for (const { source, frame, url, facts } of stills) this.#load(this.stills, `${source}:${frame}`, url, facts, 4);
  }

  // {image, x, y, facts, i} of a frame, or null while it is not here.
  look(source, frame) {
    const { frames, columns, width, height } = this.sources[source];
    const key = `${source}:${Math.floor(frame / frames)}`;
    const sheet = this.held.get(key);
    if (sheet?.ready) {
      this.held.delete(key);
      this.held.set(key, sheet);
      const i = frame % frames;
      return { ...sheet, i, x: (i % columns) * width, y: Math.floor(i / columns) * height };
    }
    const still = this.stills.get(`${source}:${frame}`);
    return still?.ready ? { ...still, i: 0, x: 0, y: 0 } : null;
  }

  holds(pairs) {
    return pairs.every(([source, tile]) => this.held.has(`${source}:${tile}`));
  }

  // Which of these [source, tile] pairs the server has to be asked for now.
  missing(pairs) {
    const now = performance.now();
    const due = pairs.filter(([source, tile]) => {
      const key = `${source}:${tile}`;
      return !this.held.has(key) && now - (this.asked.get(key) ?? -Infinity) > PATIENCE;
    });
    for (const [source, tile] of due) this.asked.set(`${source}:${tile}`, now);
    return due;
  }

  #load(shelf, key, url, facts, room) {
    if (shelf.has(key)) return;
    const entry = { image: null, facts, ready: !url };
    shelf.set(key, entry);
    while (shelf.size > room) shelf.delete(shelf.keys().next().value);
    if (!url) return this.onArrival();
    entry.image = new Image();
    entry.image.onload = () => { entry.ready = true; this.onArrival(); };
    entry.image.onerror = () => { shelf.delete(key); this.onArrival(); };
    entry.image.src = url;
  }
}
