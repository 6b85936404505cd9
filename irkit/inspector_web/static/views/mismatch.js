// The wrong elements of a step: a picture of the error, slice by slice, and who wrote the first one.

import { el, errorParts, fill, plural } from "../dom.js";
import { runJob, JobProgress } from "../jobs/job.js";
import { copyable } from "./rewrites.js";

const LEAST = 5;
const MOST = 28;

// Show them in place of the difference; `view` tells which request was the last.
export async function showMismatch(source, view, given) {
  const progress = new JobProgress("Running the function before and after the pass");
  view.showMessage("empty", progress.element);
  const mine = view.shown;
  try {
    const made = await runJob(source, "mismatch", { run: given.run, step: given.step }, { onProgress: progress.show, signal: progress.signal });
    if (mine !== view.shown) return;
    if (!made.slices?.length) { view.showMessage("empty", el("p", {}, made.note)); return; }
    view.inner = new MismatchView(view, { at: [], before: {}, after: {}, shape: [], ...made }, given);
  } catch (error) {
    if (mine === view.shown) view.showMessage("error", ...errorParts(error));
  }
}

class MismatchView {
  constructor(outer, made, given) {
    Object.assign(this, { outer, made, given });
    this.name = el("output", { class: "slice-name", role: "status" });
    this.slider = el("input", { type: "range", min: 0, max: made.slices.length - 1, step: 1, "aria-label": "Slice", oninput: () => this.show(Number(this.slider.value)) });
    this.canvas = el("canvas", { class: "error-map", tabindex: 0, role: "img" });
    this.said = el("p", { class: "error-said", role: "status" });
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    const count = made.shape.reduce((all, size) => all * size, 1);
    const first = `${made.buffer}[${made.at.join(", ")}]`;
    const many = made.slices.length > 1;
    fill(outer.view, el("div", { class: "view-box mismatch" },
      el("p", { class: "mismatch-head" }, el("b", {}, `${made.wrong.toLocaleString("en")} of ${plural(count, "element")} of ${made.buffer}`), ` (${made.dtype} [${made.shape.join(", ")}]) are wrong on ${made.inputs}. The first is `, el("b", {}, first), `: ${made.found}, and was ${made.expected}.`),
      el("div", { class: "mismatch-parts" },
        el("section", { class: "card", "aria-label": "Where the errors are" },
          el("div", { class: "rewrite-bar" }, this.name, many ? this.slider : null, errorLegend()), this.canvas, this.said,
          made.more ? el("p", { class: "note" }, `${made.more} more slices have wrong elements.`) : null),
        el("section", { class: "card", "aria-label": "Who wrote it" },
          el("h2", {}, `Who wrote ${first}`), this.writer("After the pass", "R", made.after), this.writer("Before it", "L", made.before), this.rewrite()))));
    const [row] = [made.slices.findIndex((each) => each.tiles.some((tile) => String(tile.at) === String(made.at)))];
    this.show(Math.max(0, row));
    new ResizeObserver(() => this.draw()).observe(this.canvas.parentElement);
  }

  writer(title, side, { line, code, iteration, count, value, note }) {
    if (note) return el("div", { class: "writer" }, el("h3", {}, title), el("p", {}, note));
    if (!count) return el("div", { class: "writer" }, el("h3", {}, title), el("p", {}, "Nothing wrote it."));
    const link = line ? el("button", { type: "button", class: "link", onclick: () => this.given.onDifference(`${side}${line}`) }, `line ${line}`) : null;
    const values = (iteration ?? []).map(([name, at]) => `${name} = ${at}`).join(", ");
    return el("div", { class: "writer" }, el("h3", {}, title),
      el("p", {}, "Last by ", link, values ? " where " : "", values ? copyable(values) : "", `, as ${value}; ${plural(count, "write")} in all.`), code ? el("pre", { tabindex: 0 }, code) : null);
  }

  rewrite() {
    const { guilty, onShow, onFindGuilty } = this.given;
    return el("div", { class: "writer" }, el("h3", {}, "Which rewrite made it"),
      guilty ? el("p", {}, el("button", { type: "button", class: "link", onclick: () => onShow("rewrites", guilty) }, `Rewrite ${guilty}`), " changes what the program computes.")
        : el("p", {}, el("button", { type: "button", onclick: onFindGuilty }, "Find the guilty rewrite")));
  }

  // The previous or the next slice, by key.
  step(ahead) { this.show(Math.max(0, Math.min(this.made.slices.length - 1, this.at + ahead))); }

  go(ahead) { this.step(ahead); }

  show(at) {
    this.at = at;
    this.slice = this.made.slices[at];
    this.tiles = new Map(this.slice.tiles.map((tile) => [`${tile.row},${tile.column}`, tile]));
    this.slider.value = String(at);
    const text = `${this.made.buffer}${this.slice.name}`;
    this.slider.setAttribute("aria-valuetext", text);
    fill(this.name, text, el("small", {}, ` ${plural(this.slice.wrong, "wrong element")}`));
    const [high, wide] = this.slice.tile;
    this.canvas.setAttribute("aria-label", `Errors of ${text}${high * wide > 1 ? `, in tiles of ${high} by ${wide} elements` : ""}: arrow keys go from one wrong element to the next`);
    const first = this.slice.tiles.find((tile) => String(tile.at) === String(this.made.at)) ?? this.slice.tiles[0];
    this.choose(first);
  }

  choose(tile) {
    this.tile = tile;
    const [high, wide] = this.slice.tile;
    const worst = high * wide > 1 ? "The worst here is " : "";
    fill(this.said, tile ? `${worst}${this.made.buffer}[${tile.at.join(", ")}]: ${tile.found}, was ${tile.expected}` : "No wrong element here.");
    this.draw();
  }

  draw() {
    const [rows, columns] = this.slice.size;
    const room = this.canvas.parentElement.clientWidth - 32;
    const side = Math.max(LEAST, Math.min(MOST, Math.floor(Math.min(room / columns, 420 / rows))));
    this.side = side;
    Object.assign(this.canvas, { width: columns * side + 1, height: rows * side + 1 });
    const pen = this.canvas.getContext("2d");
    const style = getComputedStyle(this.canvas);
    const colour = (name) => style.getPropertyValue(name);
    pen.fillStyle = style.backgroundColor;
    pen.fillRect(0, 0, this.canvas.width, this.canvas.height);
    pen.fillStyle = style.color;
    for (const { row, column, level } of this.slice.tiles) {
      pen.globalAlpha = 0.25 * level;
      pen.fillRect(column * side, row * side, side, side);
    }
    pen.globalAlpha = 1;
    if (side > 8) {
      pen.strokeStyle = style.borderTopColor;
      pen.beginPath();
      for (let row = 0; row <= rows; row++) { pen.moveTo(0, row * side + 0.5); pen.lineTo(columns * side, row * side + 0.5); }
      for (let column = 0; column <= columns; column++) { pen.moveTo(column * side + 0.5, 0); pen.lineTo(column * side + 0.5, rows * side); }
      pen.stroke();
    }
    if (!this.tile) return;
    pen.strokeStyle = style.outlineColor || colour("--accent");
    pen.lineWidth = 2;
    pen.strokeRect(this.tile.column * side + 1, this.tile.row * side + 1, side - 1, side - 1);
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const scale = this.canvas.width / box.width;
    const tile = this.tiles.get(`${Math.floor((event.clientY - box.top) * scale / this.side)},${Math.floor((event.clientX - box.left) * scale / this.side)}`);
    if (tile && tile !== this.tile) this.choose(tile);
  }

  key(event) {
    const ahead = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (!ahead) return;
    event.preventDefault();
    const { tiles } = this.slice;
    this.choose(tiles[Math.max(0, Math.min(tiles.length - 1, tiles.indexOf(this.tile) + ahead))]);
  }
}

function errorLegend() {
  return el("span", { class: "error-legend", "aria-hidden": "true" }, "smaller", ...[1, 2, 3, 4].map((level) => el("i", { class: `e${level}` })), "larger error");
}
