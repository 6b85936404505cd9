// The pickers at the top: run, function, and the stage to compare from.

import { byId, el, fill, plural } from "./dom.js";

export function fillRuns(runs) {
  fill(byId("run"), ...runs.map((run) => el("option", { value: run.number }, run.title)));
  byId("run-field").hidden = runs.length < 2;
}

export function fillFunctions(run, chosen) {
  fill(byId("function"), ...run.functions.map((each) => {
    const said = each.failed ? "failed" : `${plural(each.changed, "change")}`;
    return el("option", { value: each.name, selected: each.name === chosen }, `${each.name || "the module"} (${said})`);
  }));
}

// Say what a state such as 0.12.a is; nothing if there is none of that name.
export function stageName(overview, state) {
  const match = /^(\d{1,4})\.(\d{1,7})\.([ab])$/.exec(state);
  const row = match && overview.runs[Number(match[1])]?.steps[Number(match[2])];
  return row ? `${match[3] === "b" ? "before" : "after"} ${row.index} ${row.name}` : "";
}

export function fillStages(overview, place, canCompare) {
  const row = overview.runs[place.run].steps[place.step];
  const usual = el("option", { value: "" }, `before ${row.pass_text}`);
  const groups = canCompare ? overview.runs.map((run) => runStages(run, overview.runs.length > 1, place.fn)) : [];
  const known = groups.some((group) => [...group.children].some((option) => option.value === place.from));
  const own = place.from && !known ? el("option", { value: place.from }, stageName(overview, place.from)) : null;
  fill(byId("from"), usual, own, ...groups);
  byId("from").value = place.from ?? "";
  byId("from").classList.toggle("pinned", Boolean(place.from));
}

function runStages(run, several, fn) {
  const steps = run.steps.filter((row) => row.function === fn);
  const group = el("optgroup", { label: several ? run.title : "Compare from" });
  if (steps.length) group.append(el("option", { value: `${run.number}.${steps[0].index}.b` }, "as it was given"));
  for (const row of steps) {
    if (row.status === "changed") group.append(el("option", { value: `${run.number}.${row.index}.a` }, `after ${row.index} ${row.name}`));
  }
  return group;
}
