// Keep the place when the runs are replaced: by phase and pass, since steps can have new numbers.

import { stageName } from "../panels/pickers.js";

// Identify a step in any run: by function, level, phase and pass, and its count among equal ones.
function nameOfStep(run, step) {
  const row = run?.steps[step];
  if (!row) return null;
  const alike = (other) => other.function === row.function && other.level === row.level && other.phase === row.phase && other.name === row.name;
  return { alike, time: run.steps.filter((other) => other.index < step && alike(other)).length, row };
}

function stepOfName(run, named) {
  if (!named) return null;
  const found = run.steps.filter(named.alike);
  const close = run.steps.filter((row) => row.function === named.row.function && row.level === named.row.level && row.phase === named.row.phase);
  // If the pass is gone, the end of its phase.
  return (found[named.time] ?? found[found.length - 1] ?? close[close.length - 1])?.index ?? null;
}

// The run of the same number, or of the same title if the numbers have changed.
function sameRun(old, runs, number) {
  if (number === null || !old.runs[number]) return null;
  const { title } = old.runs[number];
  if (runs[number]?.title === title) return number;
  const found = runs.findIndex((run) => run.title === title);
  return found >= 0 ? found : runs[number] ? number : null;
}

function sameStage(old, runs, state) {
  const match = /^(\d{1,4})\.(\d{1,7})\.([ab])$/.exec(state ?? "");
  const run = match && sameRun(old, runs, Number(match[1]));
  if (!match || run === null) return null;
  const step = stepOfName(runs[run], nameOfStep(old.runs[Number(match[1])], Number(match[2])));
  return step === null ? null : `${run}.${step}.${match[3]}`;
}

// The changes that adapt a place to a new overview.
export function keepPlace(old, overview, place) {
  const { runs } = overview;
  const run = sameRun(old, runs, place.run);
  if (run === null) return { run: null, step: null, from: null, beside: null };
  const step = stepOfName(runs[run], nameOfStep(old.runs[place.run], place.step));
  return { run, step, from: sameStage(old, runs, place.from), beside: sameRun(old, runs, place.beside) };
}

// The parts of a place that do not exist here, in words.
export function missingParts(overview, { run, step, fn, from }) {
  const here = overview.runs[run ?? 0];
  return [
    run !== null && !here ? `run ${run + 1}` : "",
    here && step !== null && !here.steps[step] ? `pass ${step}` : "",
    here && fn && step === null && !here.functions.some((each) => each.name === fn) ? `kernel “${fn.slice(0, 80)}”` : "",
    here && from && !stageName(overview, from) ? "the stage to compare from" : "",
  ].filter(Boolean);
}
