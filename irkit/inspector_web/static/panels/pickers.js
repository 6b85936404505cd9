// The pickers at the top: run, function, and the stage to compare from.

import { byId, el, fill, plural } from "../dom.js";

export function fillRuns(runs, place) {
  fill(byId("run"), ...runs.map((run) => el("option", { value: run.number }, runTitle(runs, run.number))));
  const others = runs.filter((run) => run.number !== place.run);
  fill(byId("beside"), el("option", { value: "" }, "no other run"), ...others.map((run) => el("option", { value: run.number }, runTitle(runs, run.number))));
  byId("run").value = String(place.run);
  byId("beside").value = place.beside === null ? "" : String(place.beside);
  byId("runs").hidden = runs.length < 2;
}

// Runs of the same title get their number in front.
export function runTitle(runs, number) {
  const { title } = runs[number];
  return runs.filter((run) => run.title === title).length > 1 ? `${number + 1}: ${title}` : title;
}

let listedFunctions = null;

export function fillFunctions(run, chosen) {
  const known = listedFunctions === run.functions;
  listedFunctions = run.functions;
  if (known) byId("function").value = chosen;
  else fill(byId("function"), ...run.functions.map((each) => {
    const said = each.failed ? "failed" : `${plural(each.changed, "change")}`;
    return el("option", { value: each.name, selected: each.name === chosen }, `${each.name || "the module"} (${said})`);
  }));
}

// Describe a state such as 0.12.a; empty if there is no such state.
export function stageName(overview, state) {
  const match = /^(\d{1,4})\.(\d{1,7})\.([ab])$/.exec(state);
  const row = match && overview.runs[Number(match[1])]?.steps[Number(match[2])];
  if (!row) return "";
  const where = overview.runs.length > 1 ? `${runTitle(overview.runs, Number(match[1]))}: ` : "";
  return `${where}${match[3] === "b" ? "before" : "after"} ${row.index} ${row.name}`;
}

// `beside` is the name of the stage of the other run that is compared with, if any.
export function fillStages(overview, place, canCompare, beside) {
  const row = overview.runs[place.run].steps[place.step];
  const usual = el("option", { value: "" }, beside || `before ${row.pass_text}`);
  const groups = canCompare ? overview.runs.map((run) => runStages(run, overview.runs.length > 1, place)) : [];
  const known = groups.some((group) => [...group.children].some((option) => option.value === place.from));
  const own = place.from && !known ? el("option", { value: place.from }, stageName(overview, place.from)) : null;
  fill(byId("from"), usual, own, ...groups);
  byId("from").value = place.from ?? "";
  byId("from").classList.toggle("pinned", Boolean(place.from));
}

function runStages(run, several, place) {
  const steps = run.steps.filter((row) => row.function === place.fn);
  const group = el("optgroup", { label: several ? `Run ${run.number + 1}: ${run.title}` : "Compare from" });
  const where = run.number === place.run ? "" : `run ${run.number + 1}, `;
  if (steps.length) group.append(el("option", { value: `${run.number}.${steps[0].index}.b` }, `${where}as it was given`));
  for (const row of steps) {
    if (row.status === "changed") group.append(el("option", { value: `${run.number}.${row.index}.a` }, `${where}after ${row.index} ${row.name}`));
  }
  return group;
}
