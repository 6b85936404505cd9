// The matrix of passes by kernels: each cell is what a pass did to a kernel, and a way to it.

import { el, fill, milliseconds } from "../dom.js";
import { isWrong } from "../jobs/badge.js";
import { phasesOf, phaseTitle } from "./ribbon.js";

const LEVELS = [4, 16, 64];

export class Matrix {
  // `kernels` have name and label; `rows` are the steps on them.
  constructor(kernels, rows, { verdictOf, onStep, onKernel, title }) {
    Object.assign(this, { verdictOf, onStep, onKernel });
    this.columns = phasesOf(rows).flatMap((phase) => phase.passes.map((bar, at) => ({ ...bar, begins: at === 0 })));
    this.labels = new Map(kernels.map((each) => [each.name, each.label]));
    this.cells = new Map();
    this.said = el("p", { class: "matrix-said", role: "status" });
    this.table = el("table", { class: "matrix", role: "grid", "aria-label": title }, this.widths(), this.head(), el("tbody", {}, ...kernels.map((each) => this.kernelRow(each))));
    this.table.addEventListener("click", (event) => this.clicked(event));
    this.table.addEventListener("keydown", (event) => this.key(event));
    for (const kind of ["mouseover", "focusin"]) this.table.addEventListener(kind, (event) => this.tell(event.target.closest?.("td[data-step]")));
    const first = this.table.querySelector("td[data-step]");
    if (first) first.tabIndex = 0;
    this.element = el("section", { class: "card", "aria-labelledby": "matrix-title" },
      el("header", {}, el("h2", { id: "matrix-title" }, title), el("small", {}, "stronger: more lines changed"), legend()),
      el("div", { class: "matrix-box", tabindex: -1 }, this.table), this.said);
    this.tell(null);
  }

  widths() { return el("colgroup", {}, el("col", { class: "kernel" }), ...this.columns.flatMap((bar) => [bar.begins ? el("col", { class: "apart" }) : null, el("col", {})]).filter(Boolean)); }

  head() {
    const names = this.columns.flatMap((bar) => [bar.begins ? el("td", {}) : null, el("th", { scope: "col", title: `${bar.name}, ${phaseTitle(bar.phase)}` }, el("span", {}, bar.name))]);
    return el("thead", {}, el("tr", {}, el("td", {}, el("span", { class: "visually-hidden" }, "Kernel")), ...names));
  }

  kernelRow({ name, label }) {
    const made = this.columns.flatMap((bar) => {
      const row = bar.rows.find((each) => each.function === name);
      const cell = el("td", { role: "gridcell", "data-step": row?.index, tabindex: row ? -1 : null }, row ? el("i", {}) : null);
      if (row) { cell.row = row; this.cells.set(row.index, cell); this.paint(cell); } else cell.classList.add("none");
      return bar.begins ? [el("td", {}), cell] : [cell];
    });
    return el("tr", {}, el("th", { scope: "row" }, el("button", { type: "button", tabindex: -1, title: name, onclick: () => this.onKernel(name) }, label)), ...made);
  }

  paint(cell) {
    const { row } = cell;
    const verdict = this.verdictOf(row);
    const wrong = row.status === "failed" || isWrong(verdict);
    const lines = (row.added ?? 0) + (row.removed ?? 0);
    const level = row.status === "same" ? 0 : row.added === undefined || row.added === null ? 2 : 1 + LEVELS.filter((each) => lines >= each).length;
    cell.className = `h${level}${wrong ? " wrong" : verdict?.status === "unknown" ? " unknown" : ""}`;
    cell.firstChild.textContent = wrong ? "✕" : "";
    cell.setAttribute("aria-label", this.describe(row));
  }

  // Lines that steps added and removed, as they become known.
  setCounts(counts) {
    for (const [step, [added, removed]] of Object.entries(counts)) {
      const cell = this.cells.get(Number(step));
      if (!cell) continue;
      Object.assign(cell.row, { added, removed });
      this.paint(cell);
    }
  }

  repaint() { for (const cell of this.cells.values()) this.paint(cell); }

  describe(row) {
    const { text, status } = this.verdictOf(row) ?? {};
    const said = row.status === "same" ? "changed nothing" : row.status === "failed" ? "failed" : row.added === undefined || row.added === null ? "changed" : `+${row.added} −${row.removed} lines`;
    return `${row.name} on ${this.labels.get(row.function)}: ${said}${status ? `, ${isWrong({ status }) ? text : WORDS[status] ?? ""}` : ""}`;
  }

  tell(cell) {
    if (!cell?.row) { fill(this.said, "Point at a cell, or go through them with the arrow keys; Enter opens the difference."); return; }
    const { row } = cell;
    fill(this.said, el("b", {}, row.name), " on ", el("b", {}, this.labels.get(row.function)), `: ${this.describe(row).split(": ").slice(1).join(": ")} · ${milliseconds(row.ms)}`);
  }

  clicked(event) {
    const cell = event.target.closest("td[data-step]");
    if (cell) this.onStep(Number(cell.dataset.step));
  }

  key(event) {
    const cell = event.target.closest("td");
    if (!cell) return;
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.onStep(Number(cell.dataset.step)); return; }
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0];
    if (!down && !right) return;
    event.preventDefault();
    const line = cell.parentElement;
    let next = cell;
    do {
      const at = [...next.parentElement.children].indexOf(next);
      next = down ? (down > 0 ? next.parentElement.nextElementSibling : next.parentElement.previousElementSibling)?.children[at] : line.children[at + right];
    } while (next && !next.dataset?.step);
    if (!next?.dataset.step) return;
    cell.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}

const WORDS = { exact: "same results", close: "same up to rounding", unknown: "cannot tell" };

function legend() {
  const step = (level) => el("i", { class: `h${level}` });
  return el("span", { class: "legend", "aria-hidden": "true" }, step(0), "no change", step(1), step(2), step(3), step(4), "changed", el("i", { class: "wrong" }, "✕"), "wrong");
}
