// Other views of a step: its loop nest, its graph, and what LLVM makes of it.

import { el, errorParts, fill } from "../dom.js";
import { costView } from "./cost.js";
import { executorView } from "./executor.js";
import { graphPage } from "./graph_page.js";
import { chosenPanes, codeOf, panesView } from "./panes.js";
import { showLlvmPasses } from "./llvm_passes.js";
import { showMismatch } from "./mismatch.js";
import { showRewrites } from "./rewrites.js";
import { timeTable } from "./pass_times.js";

const UNITS = ["", "k", "M", "G", "T"];
const SIGNS = { same: "", changed: "±", added: "+", removed: "−" };

// The views of the chosen step of a page.
export function viewsOf(page) {
  const { run, step, place, canRun, source } = page;
  if (page.isText) return run.steps.some((row) => row.ms) ? ["", "time"] : [""];
  const own = canRun && step.status === "changed" ? ["rewrites"] : [];
  const isWrong = place.show === "mismatch" || page.verdictOf(step)?.status === "differs";
  if (own.length && step.level !== "graph" && isWrong) own.push("mismatch");
  // The executor is planned when memory is; a file of a report has no such view.
  const isPlanned = source.executor && run.steps.some((row) => row.name === "plan-memory" && row.index <= step.index);
  const views = step.level === "graph" ? ["graph", ...(isPlanned ? ["executor"] : [])] : ["nest", ...source.nativeViews, ...(canRun ? ["cost"] : [])];
  return ["", ...own, ...views, "time", ...(canRun ? ["rerun", "edit"] : [])];
}

// Show one of them in place of the difference; `view` tells which request was the last.
export async function showOther(show, source, view, given) {
  const own = { "llvm-passes": showLlvmPasses, mismatch: showMismatch, rewrites: showRewrites }[show];
  if (own) { await own(source, view, given); return; }
  view.showMessage("empty", el("p", {}, ["nest", "graph", "executor", "time", "cost"].includes(show) ? "Drawing…" : "Running LLVM…"));
  const mine = view.shown;
  try {
    const made = await make(show, source, given);
    if (mine !== view.shown) return;
    fill(view.view, made);
    made.querySelector(".chosen")?.scrollIntoView({ block: "center" });
  } catch (error) {
    if (mine === view.shown) view.showMessage("error", ...errorParts(error));
  }
}

async function make(show, source, given) {
  if (show === "cost") return costView(source, given);
  if (show === "time") return timeTable(given);
  if (show === "nest") return nestTable(await source.nest(given.left, given.right), given);
  if (show === "graph") return graphPage(source, given);
  if (show === "executor") return executorView(source, given);
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
      el("caption", {}, el("span", {}, `The loop nest of ${page.function}: ± changed, + added, − removed${page.more ? `; ${page.more.toLocaleString("en")} more rows are not shown` : ""}`)),
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
