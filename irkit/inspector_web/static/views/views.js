// Other views of a step: its loop nest, its graph, and what LLVM makes of it.

import { el, fill, plural } from "../dom.js";
import { chosenPanes, codeOf, panesView } from "./panes.js";
import { showLlvmPasses } from "./llvm_passes.js";
import { timeTable } from "./pass_times.js";

const SVG = "http://www.w3.org/2000/svg";
const UNITS = ["", "k", "M", "G", "T"];
const SIGNS = { same: "", changed: "±", added: "+", removed: "−" };

// Show one of them in place of the difference; `view` tells which request was the last.
export async function showOther(show, source, view, given) {
  if (show === "llvm-passes") { await showLlvmPasses(source, view, given); return; }
  view.showMessage("empty", el("p", {}, ["nest", "graph", "time"].includes(show) ? "Drawing…" : "Running LLVM…"));
  const mine = view.shown;
  try {
    const made = await make(show, source, given);
    if (mine !== view.shown) return;
    fill(view.view, made);
    made.querySelector(".chosen")?.scrollIntoView({ block: "center" });
  } catch (error) {
    if (mine === view.shown) view.showMessage("error", el("p", {}, error.message));
  }
}

async function make(show, source, given) {
  if (show === "time") return timeTable(given);
  if (show === "nest") return nestTable(await source.nest(given.left, given.right), given);
  if (show === "graph") return graphPicture(await source.graph(given.right), given);
  return panesView(await codeOf(source, given.right), { ...given, panes: chosenPanes(given.panes) });
}

export function short(number, unit = "") {
  if (number === null || number === undefined) return "?";
  let at = 0;
  const large = number >= 10000;
  while (large && number >= 1000 && at < UNITS.length - 1) { number /= 1000; at++; }
  return `${Number.isInteger(number) ? number : number.toFixed(1)} ${UNITS[at]}${unit}`.trim();
}

// Structs omit fields with their default value.
const withAllFields = (row) => row && { depth: 0, line: 0, mark: "", extent: 1, trips: 1, read: 0, written: 0, flops: 0, ...row };

function nestTable(page, { onLine }) {
  const head = ["", "Loop or block", "Kind", "Extent", "Runs", "Read", "Written", "Operations"];
  const rows = page.rows.map((change) => nestRow(change, onLine));
  return el("div", { class: "view-box" },
    el("table", { class: "nest" },
      el("caption", {}, `The loop nest of ${page.function}: ± changed, + added, − removed${page.more ? `; ${page.more.toLocaleString("en")} more rows are not shown` : ""}`),
      el("thead", {}, el("tr", {}, ...head.map((title) => el("th", { scope: "col" }, title || el("span", { class: "visually-hidden" }, "Change"))))),
      el("tbody", {}, ...rows)));
}

function nestRow(change, onLine) {
  const [before, after] = [withAllFields(change.before), withAllFields(change.after)];
  const row = after ?? before;
  const cell = (key, unit) => {
    const [old, now] = [before?.[key], row[key]];
    const text = typeof now === "string" ? now : short(now, unit);
    const differs = before && after && old !== now;
    return el("td", {}, differs ? el("del", {}, typeof old === "string" ? old || "none" : short(old, unit)) : null, differs ? " " : null, differs ? el("ins", {}, text || "none") : text);
  };
  const line = after ? `R${row.line}` : `L${row.line}`;
  const name = el("button", { type: "button", class: "link", onclick: () => row.line && onLine(line) }, row.name || row.kind);
  const named = el("td", {}, name, " ", el("small", {}, row.kind));
  named.style.paddingLeft = `${row.depth * 14 + 8}px`;
  return el("tr", { class: `nest-${change.status}` }, el("td", { class: "sign-cell", title: change.status }, SIGNS[change.status]), named,
    cell("mark"), cell("extent"), cell("trips"), cell("read", "B"), cell("written", "B"), cell("flops"));
}

function svg(tag, given = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const BOX = { width: 160, height: 40 };

function graphPicture({ view, first, function: name }, { onLine, line }) {
  const boxes = new Map(view.boxes.map((box) => [box.key, { x: 0, y: 0, ...box }]));
  const picture = svg("svg", { width: view.width, height: view.height, viewBox: `0 0 ${view.width} ${view.height}`, role: "group", "aria-label": `The graph of ${name}` });
  for (const frame of view.frames) {
    picture.append(svg("rect", { class: "frame", x: frame.x, y: frame.y, width: frame.width, height: frame.height, rx: 8 }, svg("title", {}, frame.label)));
  }
  for (const [from, to] of view.arrows) {
    if (boxes.has(from) && boxes.has(to)) picture.append(arrow(boxes.get(from), boxes.get(to)));
  }
  for (const box of boxes.values()) picture.append(boxOf(box, first, line, onLine));
  const note = view.collapsed ? el("p", { class: "note" }, "There are so many operators that some boxes stand for several.") : null;
  return el("div", { class: "view-box graph" }, ...[note, picture].filter(Boolean));
}

function arrow(from, to) {
  const [x, y, x2, y2] = [from.x + BOX.width / 2, from.y + BOX.height, to.x + BOX.width / 2, to.y];
  const bend = Math.max(16, (y2 - y) / 2);
  return svg("path", { class: "arrow-line", d: `M${x} ${y}C${x} ${y + bend} ${x2} ${y2 - bend} ${x2} ${y2}` });
}

function boxOf(box, first, line, onLine) {
  const at = box.line ? `R${box.line + first}` : "";
  const used = [box.count > 1 ? `${box.count} operators` : "", box.constants ? plural(box.constants, "weight") : "", box.result ? "result" : ""].filter(Boolean).join(", ");
  const type = box.type ?? "";
  const below = type || used;
  const beside = type && used && box.label.length + used.length < 20 ? used : "";
  const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const made = svg("g", { class: `box ${box.kind}${at && at === line ? " chosen" : ""}`, tabindex: 0, role: "button", "aria-label": `${box.label} ${type} ${used}` },
    svg("title", {}, `${box.label} (${box.key}) ${type} ${used}`),
    svg("rect", { x: box.x, y: box.y, width: BOX.width, height: BOX.height, rx: 6 }),
    svg("text", { x: box.x + 10, y: box.y + (below ? 17 : 24) }, cut(box.label, 19)));
  if (below) made.append(svg("text", { class: "more", x: box.x + 10, y: box.y + 32 }, cut(below, 22)));
  if (beside) made.append(svg("text", { class: "more", x: box.x + BOX.width - 10, y: box.y + 17, "text-anchor": "end" }, beside));
  const choose = () => {
    if (!at) return;
    made.ownerSVGElement.querySelector(".box.chosen")?.classList.remove("chosen");
    made.classList.add("chosen");
    onLine(at);
  };
  made.addEventListener("click", choose);
  made.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); } });
  return made;
}
