// The graph of a step: boxes, arrows with bends, and a window on it that zooms, moves and searches.

import { el, fill, plural } from "../dom.js";

const SVG = "http://www.w3.org/2000/svg";
const BOX = { width: 160, height: 40 };
const MAP = { width: 180, height: 130 };
const MOST_DRAWN = 600;
const READABLE = 0.25;
const ZOOM = { step: 1.25, most: 3 };

export function svg(tag, given = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function graphPicture({ view, first, function: name }, given) {
  const boxes = new Map(view.boxes.map((box) => [box.key, { x: 0, y: 0, ...box }]));
  const head = svg("marker", { id: "arrow-head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { class: "arrow-head", d: "M0 0L8 4L0 8z" }));
  const picture = svg("svg", { class: "graph-picture", role: "group", "aria-label": `The graph of ${name}`, width: Math.max(1, view.width), height: Math.max(1, view.height) }, svg("defs", {}, head));
  for (const frame of view.frames) {
    picture.append(svg("rect", { class: frame.fold ? "frame fold-frame" : "frame", x: frame.x, y: frame.y, width: frame.width, height: frame.height, rx: 8 }, svg("title", {}, frame.label)));
  }
  const parts = [];
  const add = (made, bounds) => { picture.append(made); parts.push({ made, bounds }); };
  view.arrows.forEach(([from, to], at) => {
    if (boxes.has(from) && boxes.has(to)) add(...arrow(boxes.get(from), boxes.get(to), view.routes?.[at] ?? []));
  });
  for (const box of boxes.values()) add(boxOf(box, first, given), [box.x, box.y, box.x + BOX.width, box.y + BOX.height]);
  picture.append(...view.frames.map((frame) => frameName(frame, given)).filter(Boolean));
  return new GraphWindow(view, picture, [...boxes.values()], parts, given).element;
}

// A curve through the bends of an arrow, upright at each of them, and the part of the picture it is in.
function arrow(from, to, route) {
  const points = [[from.x + BOX.width / 2, from.y + BOX.height]];
  for (let at = 0; at < route.length; at += 2) points.push([route[at], route[at + 1]]);
  points.push([to.x + BOX.width / 2, to.y - 1]);
  let path = `M${points[0]}`;
  for (let at = 1; at < points.length; at++) {
    const [[x, y], [u, v]] = [points[at - 1], points[at]];
    const bend = Math.max(12, (v - y) / 2);
    path += `C${x} ${y + bend} ${u} ${v - bend} ${u} ${v}`;
  }
  const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
  return [svg("path", { class: "arrow-line", d: path, "marker-end": "url(#arrow-head)" }), [Math.min(...xs), Math.min(...ys) - 12, Math.max(...xs), Math.max(...ys) + 12]];
}

function onPress(made, run) {
  made.addEventListener("click", run);
  made.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); run(); } });
  return made;
}

// Above a frame: the kernel that a group becomes, or the blocks of an opened fold, which it closes.
function frameName({ key, label, fold, x, y, width }, { kernels, labels, onFold, onKernel }) {
  const kernel = fold ? null : kernels.byValue.get(key);
  if (!fold && !kernel) return null;
  const most = Math.max(8, Math.floor(width / 7.5) - 2);
  const text = fold ? `▾ ${cut(label, most)}` : `${cut(labels?.get(kernel) ?? kernel, most)} ›`;
  const said = fold ? `Fold ${label}` : `Open the kernel ${kernel}`;
  const made = svg("g", { class: "frame-name", tabindex: 0, role: "button", "aria-label": said }, svg("title", {}, said), svg("text", { x: x + 2, y: y - 4 }, text));
  return onPress(made, () => (fold ? onFold(key) : onKernel(kernel)));
}

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const holds = (box, value) => box.key === value || box.group === value || Boolean(box.inside?.includes(value));

function boxOf(box, first, { line, onLine, onKernel, onFold, kernels, paint, box: wanted }) {
  const at = box.line ? `R${box.line + first}` : "";
  const { band, sign = "", words = "", told = "" } = paint(box);
  const kernel = kernels.one(box);
  const used = [box.times ? `${box.count / box.times} operators each` : box.count > 1 ? `${box.count} operators` : "", box.constants && !box.times ? plural(box.constants, "weight") : "", box.result ? "result" : ""].filter(Boolean).join(", ");
  const type = box.type ?? "";
  const below = words ? `${sign} ${words}`.trim() : box.times ? used : type || used;
  const times = box.times ? `× ${box.times}` : "";
  const beside = times || (type && used && 7.5 * box.label.length + 6.6 * used.length < BOX.width - 30 ? used : "");
  const way = box.times ? "; press to open" : kernel ? `; kernel ${kernel}, press again to open it` : "";
  const isChosen = wanted ? holds(box, wanted) : Boolean(at) && at === line;
  const made = svg("g", { class: `box ${box.kind}${isChosen ? " chosen" : ""}`, "data-key": box.key, "data-label": [box.label, ...(box.inside ?? [])].join(" ").toLowerCase(), tabindex: 0, role: "button", "aria-label": [box.label, times, type, used, told, words].filter(Boolean).join(" ") },
    svg("title", {}, `${box.label} (${box.key.replace(/^fold /, "")}) ${type} ${used}${way}`),
    svg("rect", { x: box.x, y: box.y, width: BOX.width, height: BOX.height, rx: 6 }),
    svg("rect", { class: `band band-${band}`, x: box.x + 3, y: box.y + 4, width: 4, height: BOX.height - 8, rx: 2 }),
    svg("text", { x: box.x + 12, y: box.y + (below ? 17 : 24) }, cut(box.label, times ? 15 : 19)));
  if (below) made.append(svg("text", { class: "more", x: box.x + 12, y: box.y + 32 }, cut(below, 22)));
  if (beside) made.append(svg("text", { class: "more", x: box.x + BOX.width - 10, y: box.y + 17, "text-anchor": "end" }, beside));
  return onPress(made, () => {
    if (box.times) { onFold(box.key); return; }
    const again = made.classList.contains("chosen");
    if (again && kernel) { onKernel(kernel); return; }
    if (!at) return;
    made.ownerSVGElement.querySelector(".box.chosen")?.classList.remove("chosen");
    made.classList.add("chosen");
    onLine(at);
  });
}

class GraphWindow {
  constructor(view, picture, boxes, parts, { tools: own, legend, box }) {
    Object.assign(this, { view, picture, boxes, parts, wanted: box });
    this.scale = 1;
    [this.x, this.y] = [0, 0];
    this.find = el("input", { type: "search", placeholder: "Find an operator", "aria-label": "Find an operator", spellcheck: "false" });
    this.said = el("span", { class: "found-count", role: "status" });
    const button = (text, title, run) => el("button", { type: "button", title, "aria-label": title, onclick: run }, text);
    const tools = el("div", { class: "graph-tools", role: "group", "aria-label": "The graph" }, this.find, this.said, ...own.filter(Boolean),
      button("−", "Smaller (-)", () => this.zoom(1 / ZOOM.step)), button("+", "Larger (+)", () => this.zoom(ZOOM.step)), button("Fit", "All of it (0)", () => this.fit()));
    // The picture itself keeps its scale, for which the browser lays out its texts.
    this.moved = el("div", { class: "graph-moved" }, picture);
    this.map = this.mapOf();
    this.stage = el("div", { class: "graph-stage", tabindex: 0, role: "region", "aria-label": "The graph: arrow keys move it, plus and minus change its size" }, this.moved, this.map);
    const note = view.collapsed ? el("p", { class: "note" }, "There are so many operators that some boxes stand for several.") : null;
    this.element = el("div", { class: "view-box graph" }, note, tools, this.stage, legend);
    this.listen();
    // It has a size once it is on the page.
    new ResizeObserver(() => { if (this.fitted) this.show(); else { this.fitted = true; this.begin(); } }).observe(this.stage);
  }

  get size() { return { width: this.stage.clientWidth || 800, height: this.stage.clientHeight || 600 }; }
  get least() { return Math.min(1, this.size.width / this.view.width, this.size.height / this.view.height) * 0.9; }

  // Fit a small graph; of a large one, show the top at a size that can be read.
  begin() {
    this.fit();
    const wanted = this.wanted && this.boxes.find((box) => holds(box, this.wanted));
    if (wanted) { this.scale = Math.max(this.scale, 0.8); this.center(wanted); return; }
    if (this.scale >= 0.5) return;
    this.scale = 0.8;
    const top = this.boxes.reduce((best, box) => (box.y < best.y ? box : best), this.boxes[0] ?? { x: 0, y: 0 });
    [this.x, this.y] = [top.x + BOX.width / 2 - this.size.width / 1.6, -20];
    this.show();
  }

  fit() {
    this.scale = Math.min(1, this.least / 0.9);
    const { width, height } = this.size;
    [this.x, this.y] = [(this.view.width - width / this.scale) / 2, Math.min(0, (this.view.height - height / this.scale) / 2)];
    this.show();
  }

  zoom(by, at = null) {
    const { width, height } = this.size;
    const [px, py] = at ?? [width / 2, height / 2];
    const scale = Math.max(this.least, Math.min(ZOOM.most, this.scale * by));
    this.x += px / this.scale - px / scale;
    this.y += py / this.scale - py / scale;
    this.scale = scale;
    this.show();
  }

  move(x, y) {
    this.x += x / this.scale;
    this.y += y / this.scale;
    this.show();
  }

  // Only transforms change: the browser moves what it has drawn, and draws anew when that has ended.
  show() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      const { width, height } = this.size;
      const { x, y, scale, mapScale } = this;
      // What was drawn for another size would be blurred, or very large.
      if (!(scale < this.drawn * 3 && scale > this.drawn / 3)) this.settle();
      else this.moved.classList.add("moving");
      clearTimeout(this.moving);
      this.moving = setTimeout(() => this.settle(), 200);
      this.cull(width / scale, height / scale);
      this.moved.style.transform = `translate(${-x * scale}px, ${-y * scale}px) scale(${scale})`;
      // What is beyond the graph is not on its map.
      const [left, top] = [this.mapLeft + x * mapScale, y * mapScale];
      const [begin, above] = [Math.max(0, left), Math.max(0, top)];
      this.seen.style.transform = `translate(${begin}px, ${above}px)`;
      const seen = [Math.min(MAP.width - 2, left + (width / scale) * mapScale) - begin, Math.min(MAP.height - 2, top + (height / scale) * mapScale) - above].map((each) => `${Math.max(2, each)}px`);
      if (seen[0] !== this.seen.style.width || seen[1] !== this.seen.style.height) [this.seen.style.width, this.seen.style.height] = seen;
    });
  }

  // Of a large graph, the browser has the boxes and arrows near the window; every box keeps its place in
  // the order of the Tab key. Text too small to be read is left out.
  cull(width, height) {
    if (this.boxes.length < MOST_DRAWN) return;
    this.picture.classList.toggle("far", this.scale < READABLE);
    const { x, y, near } = this;
    if (near && x > near[0] && y > near[1] && x + width < near[2] && y + height < near[3] && (near[2] - near[0]) < width * 8) return;
    const [left, top, right, bottom] = this.near = [x - width, y - height, x + width * 2, y + height * 2];
    for (const part of this.parts) {
      const [from, above, to, below] = part.bounds;
      const isAway = to < left || from > right || below < top || above > bottom;
      if (isAway !== part.isAway) { part.isAway = isAway; part.made.classList.toggle("away", isAway); }
    }
  }

  settle() {
    this.drawn = this.scale;
    this.moved.classList.remove("moving");
  }

  // All boxes in one small path, and the window on them.
  mapOf() {
    const { width, height } = MAP;
    const scale = this.mapScale = Math.min(width / Math.max(1, this.view.width), height / Math.max(1, this.view.height));
    this.mapLeft = (width - this.view.width * scale) / 2;
    const [boxWidth, boxHeight] = [Math.max(1.5, BOX.width * scale), Math.max(1.5, BOX.height * scale)].map((each) => each.toFixed(2));
    const path = this.boxes.map(({ x, y }) => `M${(this.mapLeft + x * scale).toFixed(2)} ${(y * scale).toFixed(2)}h${boxWidth}v${boxHeight}h-${boxWidth}z`).join("");
    this.seen = el("div", { class: "graph-seen" });
    return el("div", { class: "graph-map", "aria-hidden": "true" }, svg("svg", { width, height }, svg("path", { d: path })), this.seen);
  }

  listen() {
    const { stage } = this;
    stage.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = stage.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey) this.zoom(Math.exp(-event.deltaY / 300), [event.clientX - box.left, event.clientY - box.top]);
      else this.move(event.deltaX, event.deltaY);
    }, { passive: false });
    let from = null;
    stage.addEventListener("pointerdown", (event) => { if (event.button === 0) from = { x: event.clientX, y: event.clientY, onMap: this.map.contains(event.target) }; if (from?.onMap) this.jump(event); });
    addEventListener("pointerup", () => { from = null; });
    stage.addEventListener("pointermove", (event) => {
      if (!from || !event.buttons) return;
      if (from.onMap) { this.jump(event); return; }
      this.move(from.x - event.clientX, from.y - event.clientY);
      Object.assign(from, { x: event.clientX, y: event.clientY });
    });
    stage.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, -60], ArrowDown: [0, 60] }[event.key];
      const by = { "+": ZOOM.step, "=": ZOOM.step, "-": 1 / ZOOM.step }[event.key];
      if (!way && !by && event.key !== "0") return;
      event.preventDefault();
      event.stopPropagation();
      if (way) this.move(...way);
      else if (by) this.zoom(by);
      else this.fit();
    });
    stage.addEventListener("focusin", (event) => { const box = event.target.closest?.(".box"); if (box && box.matches(":focus-visible")) this.reveal(box.dataset.key); });
    this.find.addEventListener("input", () => this.search());
    this.find.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); this.next(); } });
  }

  jump(event) {
    const box = this.map.getBoundingClientRect();
    this.x = (event.clientX - box.left - this.mapLeft) / this.mapScale - this.size.width / this.scale / 2;
    this.y = (event.clientY - box.top) / this.mapScale - this.size.height / this.scale / 2;
    this.show();
  }

  reveal(key) {
    const box = this.boxes.find((each) => each.key === key);
    const { width, height } = this.size;
    const [x, y] = [(box.x - this.x) * this.scale, (box.y - this.y) * this.scale];
    if (x > 0 && y > 0 && x + BOX.width * this.scale < width && y + BOX.height * this.scale < height) return;
    this.center(box);
  }

  center(box) {
    const { width, height } = this.size;
    this.x = box.x + BOX.width / 2 - width / this.scale / 2;
    this.y = box.y + BOX.height / 2 - height / this.scale / 2;
    this.show();
  }

  search() {
    const text = this.find.value.trim().toLowerCase();
    const all = [...this.picture.querySelectorAll(".box")];
    for (const box of all) box.classList.toggle("hit", Boolean(text) && (box.dataset.label.includes(text) || box.dataset.key.toLowerCase().includes(text)));
    this.hits = all.filter((box) => box.classList.contains("hit"));
    this.at = -1;
    fill(this.said, text ? `${this.hits.length} found` : "");
    if (this.hits.length) this.next();
  }

  next() {
    if (!this.hits?.length) return;
    this.at = (this.at + 1) % this.hits.length;
    if (this.scale < 0.5) this.scale = 0.8;
    fill(this.said, `${this.at + 1} of ${this.hits.length}`);
    this.reveal(this.hits[this.at].dataset.key);
  }
}
