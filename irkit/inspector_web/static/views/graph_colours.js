// The colours of a graph: what an operator is, how long its kernel takes, or what is known of it.

import { el, milliseconds } from "../dom.js";
import { BADGES, isWrong } from "../jobs/badge.js";
import { knownJobs } from "../jobs/job.js";

export const GRAPH_COLOURS = ["kind", "time", "verdict"];

const FAMILIES = [
  ["product", "products", /conv|matmul|gemm|dense|einsum|lstm|gru|rnn|dot/i],
  ["reduce", "reductions", /pool|reduce|sum|mean|norm|softmax|argm|cum/i],
  ["move", "moves", /reshape|transpose|concat|slice|pad|gather|scatter|split|squeeze|expand|flatten|tile|cast|tuple/i],
];
const HEAT = [[0.4, 4], [0.15, 3], [0.05, 2], [0, 1]];

// Which kernels a box of the graph becomes, by the values that they compute.
export class KernelsOfGraph {
  constructor(infos) {
    this.infos = infos ?? new Map();
    this.byValue = new Map([...this.infos.values()].flatMap((info) => (info.values ?? []).map((value) => [value, info.name])));
  }

  of(box) {
    if (box.kind === "call") return [box.label];
    const values = box.inside?.length ? box.inside : [box.group || box.key];
    return [...new Set(values.map((value) => this.byValue.get(value)).filter(Boolean))];
  }

  one(box) { const all = this.of(box); return all.length === 1 && box.kind !== "fold" ? all[0] : null; }
}

// Native times of the kernels if they were measured, else the times that compiling them took.
async function kernelTimes(source, { run, all }) {
  const jobs = source.canRunJobs ? await knownJobs(source, "roofline").catch(() => []) : [];
  const done = jobs.findLast((info) => info.state === "done" && info.arguments.run === run && !info.arguments.function);
  if (done) {
    const { kernels } = (await source.job(done.id)).result;
    return { said: "native time", times: new Map(kernels.map((each) => [each.function, (each.micros ?? 0) / 1000])) };
  }
  const times = new Map();
  for (const row of all) if (row.function && row.level !== "graph") times.set(row.function, (times.get(row.function) ?? 0) + row.ms);
  return { said: "compile time", times };
}

function familyOf(box, kernels) {
  const names = box.kind === "operator" ? [box.label] : kernels.of(box).flatMap((name) => kernels.infos.get(name)?.operators ?? []);
  const found = FAMILIES.find(([, , pattern]) => names.some((name) => pattern.test(name)));
  if (found) return { name: found[0], said: found[1] };
  return names.length ? { name: "each", said: "element by element" } : { name: "none", said: "" };
}

function verdictOf(names, { all, verdictOf: known }) {
  const rows = all.filter((row) => names.includes(row.function) && row.status !== "same");
  const verdicts = rows.map((row) => (row.status === "failed" ? { status: "failed" } : known(row)));
  const wrong = verdicts.find((each) => isWrong(each));
  if (wrong) return wrong.status;
  if (!verdicts.length || verdicts.every((each) => !each)) return null;
  if (verdicts.some((each) => !each || each.status === "unknown")) return "unknown";
  return verdicts.some((each) => each.status === "close") ? "close" : "exact";
}

// A function that gives a box its band of colour, sign and words; and a legend.
export async function graphColours(source, given, kernels) {
  const { colour } = given;
  if (colour === "time") {
    const { said, times } = await kernelTimes(source, given);
    const total = [...times.values()].reduce((sum, ms) => sum + ms, 0) || 1;
    const paint = (box) => {
      const ms = kernels.of(box).reduce((sum, name) => sum + (times.get(name) ?? 0), 0);
      if (!ms) return { band: "none" };
      const [, level] = HEAT.find(([least]) => ms / total >= least);
      return { band: `heat-${level}`, words: `${milliseconds(ms)}, ${((100 * ms) / total).toFixed(ms / total < 0.1 ? 1 : 0)} %` };
    };
    return { paint, legend: legendOf([["heat-1", "little"], ["heat-4", `much of the ${said}`]]) };
  }
  if (colour === "verdict") {
    const paint = (box) => {
      const status = verdictOf(kernels.of(box), given);
      if (!status) return { band: "none" };
      const [sign, word] = BADGES[status];
      return { band: isWrong({ status }) ? "wrong" : status === "unknown" ? "warn" : "plus", sign, words: word };
    };
    return { paint, legend: legendOf([["plus", "✓ ≈ same"], ["warn", "? cannot tell"], ["wrong", "≠ wrong"], ["none", "not checked"]]) };
  }
  const paint = (box) => { const { name, said } = familyOf(box, kernels); return { band: name, told: said }; };
  return { paint, legend: legendOf([...FAMILIES.map(([name, said]) => [name, said]), ["each", "element by element"]]) };
}

function legendOf(entries) {
  return el("p", { class: "graph-legend" }, ...entries.map(([band, said]) => el("span", {}, el("i", { class: `band-${band}`, "aria-hidden": "true" }), said)));
}
