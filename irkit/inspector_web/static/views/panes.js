// Loop IR, LLVM IR and assembly side by side, in step: a colour a line, and hover lights it in all.

import { el, fill } from "../dom.js";
import { colouredLine, dataLast, isRead } from "./code_lexer.js";
import { whatItDoes } from "./mnemonics.js";

const CODE_CHUNK = 400;
const BANDS = 6;
const CODE_ROW = 20;
const MOST_LINES = 20000;
export const PANES = { ir: "Loop IR", llvm: "LLVM IR", optimised: "LLVM IR, optimised", assembly: "Assembly" };
const USUAL = ["ir", "llvm", "assembly"];

export function chosenPanes(text) {
  const named = (text ?? "").split(",").filter((each) => PANES[each]);
  return named.length ? Object.keys(PANES).filter((each) => named.includes(each)) : USUAL;
}

// Get the texts of a stage: { ir: [html], llvm: {text, lines}, ... }.
export async function codeOf(source, state) {
  const [native, ir] = await Promise.all([source.native(state), source.lines(state, 1, MOST_LINES)]);
  return { ...native, ir };
}

export function panesView(code, { panes, line, above, onLine, onPanes }) {
  const used = new Set([code.llvm, code.optimised, code.assembly].flatMap((each) => each.lines));
  const bands = new Map([...used].filter(Boolean).sort((a, b) => a - b).map((at, rank) => [at, 1 + (rank % BANDS)]));
  const boxes = panes.map((name) => pane(name, code, bands));
  const told = el("p", { class: "pane-said", role: "status" }, "Point at a line to see it in every pane; click it to go there.");
  const box = el("div", { class: "panes" }, ...boxes.flatMap((each, at) => (at ? [between(), each] : [each])));
  const view = el("div", { class: "panes-view" }, head(panes, above, onPanes), box, told);
  box.addEventListener("mouseover", (event) => light(box, told, event.target.closest(".row")));
  box.addEventListener("click", (event) => {
    const row = event.target.closest("[data-from]");
    if (!row || row.dataset.from === "0" || getSelection().toString()) return;
    choose(box, row.dataset.from, row);
    onLine(`R${row.dataset.from}`);
  });
  if (line?.startsWith("R")) queueMicrotask(() => choose(box, line.slice(1), null));
  return view;
}

function head(panes, above, onPanes) {
  const buttons = Object.entries(PANES).map(([name, title]) => el("button", { type: "button", "data-pane": name, "aria-pressed": String(panes.includes(name)), onclick: () => {
    const next = panes.includes(name) ? panes.filter((each) => each !== name) : [...panes, name];
    if (next.length) onPanes(next.join(","));
  } }, title));
  return el("div", { class: "panes-head" }, el("p", {}, above), el("div", { class: "segments", role: "group", "aria-label": "Panes" }, ...buttons));
}

function pane(name, code, bands) {
  const read = name === "ir" ? code.ir.map((html, at) => ({ html, from: at + 1 }))
    : code[name].text.map((text, at) => ({ text, from: code[name].lines[at] })).filter(({ text }) => isRead(name === "assembly" ? name : "llvm", text));
  const rows = name === "assembly" ? dataLast(read) : read;
  const list = el("div", { class: "lines native pane-lines", tabindex: 0, role: "region", "aria-label": PANES[name] });
  for (let at = 0; at < rows.length; at += CODE_CHUNK) {
    const chunk = el("div", { class: "chunk" });
    chunk.style.containIntrinsicSize = `auto ${CODE_CHUNK * CODE_ROW}px`;
    chunk.append(...rows.slice(at, at + CODE_CHUNK).map((row) => codeRow(name, row, bands)));
    list.append(chunk);
  }
  const count = rows.filter(({ from, text }) => text === undefined || from).length;
  return el("section", { class: "pane", "data-pane": name }, el("h3", {}, PANES[name], el("small", {}, name === "ir" ? `${rows.length} lines` : `${count} instructions`)), list);
}

function codeRow(name, { html, text, from }, bands) {
  const code = el("span", { class: "code" });
  if (html === undefined) code.append(...colouredLine(name === "assembly" ? name : "llvm", text.replace(/^\t/, "    ").replaceAll("\t", " ")));
  else code.innerHTML = html;
  const row = el("div", { class: `row${bands.has(from) ? ` band-${bands.get(from)}` : ""}`, "data-from": from && (html === undefined || bands.has(from)) ? from : html === undefined ? 0 : from }, el("span", { class: "no" }, from ? String(from) : ""), code);
  if (name === "assembly") row.dataset.op = /^\s+([a-z][\w.]*)/.exec(text)?.[1] ?? "";
  return row;
}

function light(box, told, row) {
  box.querySelectorAll(".lit").forEach((each) => each.classList.remove("lit"));
  if (!row) return;
  const { from, op } = row.dataset;
  if (from !== "0") box.querySelectorAll(`[data-from="${from}"]`).forEach((each) => each.classList.add("lit"));
  const does = op ? whatItDoes(op) : "";
  if (does) fill(told, el("b", {}, op), ` ${does}.`);
  else if (from !== "0") fill(told, `Line ${from}: ${box.querySelectorAll(`[data-pane="assembly"] [data-from="${from}"]`).length} instructions.`);
}

// Choose a line, and bring it into view in the other panes.
function choose(box, from, clicked) {
  box.querySelectorAll(".chosen").forEach((each) => each.classList.remove("chosen"));
  for (const each of box.querySelectorAll(".pane")) {
    const rows = each.querySelectorAll(`[data-from="${from}"]`);
    rows.forEach((row) => row.classList.add("chosen"));
    if (rows[0] && !each.contains(clicked)) rows[0].scrollIntoView({ block: "center" });
  }
}

// The bar between two panes.
function between() {
  const bar = el("div", { class: "splitter upright", role: "separator", "aria-orientation": "vertical", "aria-label": "Width of the panes", "aria-valuenow": 50, tabindex: 0 });
  const move = (by) => {
    const [left, right] = [bar.previousElementSibling, bar.nextElementSibling];
    const [a, b] = [left.offsetWidth, right.offsetWidth];
    const width = Math.max(120, Math.min(a + b - 120, a + by));
    left.style.flex = `${width} 1 0`;
    right.style.flex = `${a + b - width} 1 0`;
    for (const each of bar.parentElement.querySelectorAll(".pane")) if (!each.style.flex) each.style.flex = `${each.offsetWidth} 1 0`;
    bar.setAttribute("aria-valuenow", String(Math.round((100 * width) / (a + b))));
  };
  bar.addEventListener("pointerdown", (event) => { bar.setPointerCapture(event.pointerId); event.preventDefault(); });
  bar.addEventListener("pointermove", (event) => { if (bar.hasPointerCapture(event.pointerId)) move(event.movementX); });
  bar.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
    if (by) { event.preventDefault(); move(by); }
  });
  return bar;
}
