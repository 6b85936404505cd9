// What a kernel costs: its place under the roofline of this machine, and how each line accesses memory.

import { el, fill, plural } from "../dom.js";
import { knownJobs, runShown } from "../jobs/job.js";
import { showLoopTimes } from "./loop_times.js";
import { rooflinePicture, rooflineText } from "./roofline.js";

const LINE = 64;

export async function costView(source, given) {
  const roof = el("section", { class: "card", "aria-label": "Roofline" });
  const loops = el("section", { class: "card", "aria-label": "Loops" });
  // One button measures both.
  showRoofline(roof, source, { run: given.run, function: given.fn }, { ...given, chosen: given.fn, onTimed: () => loops.querySelector("#ask-loops")?.click() });
  showLoopTimes(loops, source, given);
  const { accesses, more } = await source.memory(given.right);
  return el("div", { class: "view-box costs" }, roof, loops, memoryTable(accesses, more, given));
}

// The roofline of kernels: the result of an earlier measurement, or a button.
export async function showRoofline(box, source, args, { chosen = args.function, labels, onKernel, onMade, onTimed }) {
  const place = el("div", { class: "job-slot" });
  const made = (result) => { onMade?.(result); fill(box, el("h2", {}, "Roofline"), rooflinePicture(result, { chosen, labels, onKernel }), rooflineText(result, chosen)); };
  const ask = async () => { const result = await runShown(place, source, "roofline", args, "Timing"); if (result) made(result); onTimed?.(); };
  const many = !args.function;
  fill(box, el("h2", {}, "Roofline"),
    el("p", { class: "job-why" }, `Times ${many ? "each kernel" : "the finished kernel"} as native code, and compares ${many ? "them" : "it"} with what this machine can compute and move.`),
    el("p", {}, el("button", { type: "button", id: "ask-roofline", onclick: ask }, many ? "Time all kernels" : "Time this kernel and its loops")), place);
  const known = (await knownJobs(source, "roofline").catch(() => [])).filter((info) => info.state === "done" && info.arguments.run === args.run && (!info.arguments.function || info.arguments.function === args.function));
  const best = known.find((info) => !info.arguments.function) ?? known.pop();
  if (best) made((await source.job(best.id)).result);
}

function memoryTable(accesses, more, { onDifference }) {
  const rows = accesses.map((each) => {
    const moves = (each.strides ?? []).filter((one) => one.bytes).map((one) => el("span", { class: `stride ${kindOf(one.bytes)}` }, `${one.loop} ${amount(one.bytes)}`));
    const fixed = (each.strides ?? []).filter((one) => !one.bytes && one.extent !== 1).map((one) => one.loop);
    return el("tr", {},
      el("td", {}, el("button", { type: "button", class: "link", onclick: () => onDifference(`R${each.line}`) }, String(each.line))),
      el("th", { scope: "row" }, `${each.writes ? "writes" : "reads"} `, el("b", {}, each.buffer), el("small", {}, ` ${each.dtype}`)),
      el("td", {}, each.strides ? moves.length ? el("span", { class: "strides" }, ...moves) : "none" : "not known", fixed.length ? el("small", {}, ` same along ${fixed.join(", ")}`) : null),
      el("td", {}, count(each.times)), el("td", {}, count(each.elements)), el("td", {}, count(each.lines)),
      el("td", {}, each.times && each.elements ? `${(each.times / each.elements).toLocaleString("en", { maximumFractionDigits: 1 })}×` : "–"));
  });
  return el("section", { class: "card", "aria-label": "Memory by line" },
    el("h2", {}, "Memory by line"),
    el("p", { class: "job-why" }, `How far each access moves along each loop, the elements and cache lines of ${LINE} bytes it touches, and how often it uses an element. Conditions count as if they held.`),
    accesses.length ? el("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": "Table of accesses" }, el("table", { class: "memory-table" },
      el("thead", {}, el("tr", {}, ...["Line", "Access", "Moves by", "Accesses", "Elements", "Cache lines", "Reuse"].map((title) => el("th", { scope: "col" }, title)))),
      el("tbody", {}, ...rows))) : el("p", {}, "It accesses no buffer."),
    more ? el("p", { class: "note" }, `${plural(more, "more access", "more accesses")} are not shown.`) : null);
}

// A stride of an element is near, one inside a cache line is close, others are far.
function kindOf(bytes) {
  const far = Math.abs(bytes);
  return far <= 8 ? "near" : far < LINE ? "close" : "far";
}

function amount(bytes) {
  const sign = bytes < 0 ? "−" : "+";
  const size = Math.abs(bytes);
  return size >= 1e6 ? `${sign}${(size / 1e6).toFixed(1)} MB` : size >= 10000 ? `${sign}${(size / 1e3).toFixed(1)} kB` : `${sign}${size} B`;
}

const count = (number) => (number === null || number === undefined ? "?" : number.toLocaleString("en"));
