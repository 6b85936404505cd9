// The right side: all there is to say of the chosen pass, and of the chosen line.

import { byId, commandLine, el, fill, milliseconds, plural } from "../dom.js";

function part(title, ...content) {
  return el("section", {}, el("h3", {}, title), ...content);
}

function table(rows) {
  return el("table", {}, el("tbody", {}, ...rows.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)))));
}

export class Details {
  constructor(given) {
    Object.assign(this, given);
    this.box = byId("details");
    this.line = el("div", { id: "line-details" });
    this.pass = el("div", { id: "pass-details" });
    this.jobs = el("div", { id: "jobs" });
    fill(this.box, this.line, this.pass);
  }

  clear() {
    fill(this.line);
    fill(this.pass);
  }

  showError(error) {
    fill(this.pass, el("p", { class: "error", role: "alert" }, error.message));
  }

  showStep(row, info, total) {
    fill(this.pass,
      el("h2", {}, info.name),
      info.doc ? el("p", { class: "doc" }, info.doc.split("\n\n")[0].replaceAll("``", "").replaceAll("\n", " ")) : null,
      info.failure ? failurePart(info) : null,
      this.jobs,
      this.remarksPart(info),
      part("In numbers", table(numberRows(row, info, total))),
      Object.keys(info.options).length ? part("Options", table(Object.entries(info.options).map(([name, value]) => [name, el("code", {}, value)]))) : null,
      rulesPart(info),
      info.facts.length ? part("Facts in force after it", el("p", { class: "facts" }, ...info.facts.map((fact) => el("span", { class: "fact" }, fact)))) : null,
      info.source ? this.sourcePart(info) : null);
  }

  sourcePart(info) {
    const { module, file, line, text } = info.source;
    return el("details", { class: "source" }, el("summary", {}, "Source of the pass"), el("p", {}, `${file || module}, line ${line} `, this.editor()), el("pre", { tabindex: 0 }, text));
  }

  remarksPart(info) {
    if (!info.remarks.length) return null;
    const items = info.remarks.map((each) => el("li", {},
      each.line ? el("button", { type: "button", class: "link", onclick: () => this.onLine(`L${each.line}`) }, `line ${each.line}`) : null,
      each.line ? " " : null, each.text));
    const more = info.more_remarks ? el("p", {}, `and ${info.more_remarks} more`) : null;
    return part(plural(info.remarks.length + info.more_remarks, "remark"), el("ul", { class: "remarks" }, ...items), more);
  }

  // One origin of a line, in the user's words: an ONNX node with the layer and the shape, and ways to the
  // graph and to the kernels that compute it.
  originPart([kind, origin, place]) {
    const kernel = this.chosen();
    const isNode = kind === "onnx";
    const words = isNode && kernel?.nodes?.includes(origin) ? [...new Set([kernel.operators.join(" → "), this.labelOf(kernel.name), kernel.shape])].filter(Boolean).join(" ") : "";
    const own = words ? el("button", { type: "button", class: "link", title: "Its group in the graph (G)", onclick: () => this.onGraph(kernel.name) }, words) : null;
    const said = isNode ? [own ? " ONNX node " : el("b", {}, "ONNX node "), own ? el("code", {}, origin) : origin] : [el("b", {}, kind), ` ${origin}`];
    return el("li", {}, own, ...said, " ", place ? el("code", {}, place) : null, ...(own ? [] : this.kernelsPart(isNode ? origin : "", place)));
  }

  // The ways from a node, or a line of the user's source, to the kernels that compute it.
  kernelsPart(node, place) {
    const names = this.kernels().filter((each) => (node && each.nodes?.includes(node)) || (place && each.sources?.includes(place))).map((each) => each.name);
    return names.flatMap((name, at) => [at ? ", " : " in ", el("button", { type: "button", class: "link", title: "Open this kernel", onclick: () => this.onKernel(name) }, name)]);
  }

  showLine(name, info) {
    if (!info) return fill(this.line);
    const who = info.step < 0
      ? "There from the start; no pass has changed it."
      : el("span", {}, el("button", { type: "button", class: "link", title: info.step_name, onclick: () => this.onStep(info.step) }, `${info.step} ${info.step_name.split("{")[0]}`));
    const origins = info.origins.map((each) => this.originPart(each));
    return fill(this.line,
      el("div", { class: "line-head" }, el("h2", {}, `Line ${name.slice(1)} ${name[0] === "L" ? "before" : "after"}`), el("pre", { class: "chosen-line", tabindex: 0 }, info.code)),
      part("Comes from", origins.length ? el("ol", { class: "origins" }, ...origins) : el("p", {}, info.unread ? `Its function has ${plural(info.unread, "node")} that are not read yet: too many to read for one line.` : "Nothing is known of its origin.")),
      part("Last changed by", el("p", { class: "who-line" }, who)));
  }
}

// Hits are applications; the time includes attempts that changed nothing.
function rulesPart(info) {
  if (!info.rules.length) return null;
  const repeated = info.rules.some((each) => each.rounds);
  const head = ["rule", "hits", "ms", ...(repeated ? ["rounds"] : [])];
  const rows = info.rules.map((each) => el("tr", {},
    el("th", { scope: "row" }, each.rule.replaceAll("<locals>.", "")),
    el("td", {}, each.hits.toLocaleString("en")),
    el("td", {}, each.ms ? each.ms.toFixed(2) : "-"),
    repeated ? el("td", {}, each.rounds ? each.rounds.toLocaleString("en") : "-") : null));
  const more = info.more_rules ? el("p", {}, `and ${info.more_rules} more`) : null;
  return part("Rules", el("table", { class: "cost-table rules" },
    el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...rows)), more);
}

function failurePart(info) {
  const copy = commandLine("See it again:", info.replay);
  const trace = info.traceback ? el("details", {}, el("summary", {}, "Traceback"), el("pre", { tabindex: 0 }, info.traceback)) : null;
  return el("section", { class: "failure" }, el("h3", {}, "This pass failed"), el("pre", { tabindex: 0 }, info.failure), copy, trace);
}

// The nodes of very large functions are not counted before the page appears.
function numberRows(row, info, total) {
  const found = !total ? [] : [["Time", `${milliseconds(row.ms)} of ${milliseconds(total)}, ${(100 * info.share).toFixed(1)}\u00a0%`]];
  if (typeof row.before === "number") found.push(["Nodes", row.before === row.after ? row.before.toLocaleString("en") : `${row.before.toLocaleString("en")} → ${row.after.toLocaleString("en")}`]);
  if (info.rewrites) found.push(["Rewrites", info.rewrites.toLocaleString("en")]);
  found.push(["Step", `${row.index}, phase ${row.phase} ${row.phase_name}`]);
  return found;
}

