// The place: all that determines what is shown. It is in the address, so a link restores it.

const PLACE_NAMES = {
  run: "run", beside: "beside", fn: "function", step: "step", show: "show", from: "from", view: "view", names: "names",
  blame: "blame", whole: "whole", hide: "hide", details: "details", wrap: "wrap", slow: "slowest", filter: "filter", touches: "touches", line: "line",
  text: "search", regex: "regex", exact: "case", llvm: "llvm", rewrite: "rewrite", panes: "panes", opened: "open", colour: "colour", box: "box",
};
const FLAGS = new Set(["names", "blame", "whole", "hide", "details", "wrap", "slow", "regex", "exact"]);
const NUMBERS = new Set(["run", "beside", "step", "llvm", "rewrite"]);

export function readPlace(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const place = {};
  for (const [key, name] of Object.entries(PLACE_NAMES)) {
    const text = given.get(name);
    if (FLAGS.has(key)) place[key] = text === "1";
    else if (NUMBERS.has(key)) place[key] = text !== null && /^\d{1,7}$/.test(text) ? Number(text) : null;
    else place[key] = text;
  }
  // Links from before the panes stood beside each other.
  const alone = { llvm: "ir,llvm", optimised: "ir,optimised", assembly: "ir,assembly" }[place.show];
  if (alone) Object.assign(place, { show: "code", panes: alone });
  return place;
}

export function writePlace(place) {
  const made = new URLSearchParams();
  for (const [key, name] of Object.entries(PLACE_NAMES)) {
    const value = place[key];
    if (value === null || value === undefined || value === false) continue;
    if (value === "" && key !== "fn") continue;
    made.set(name, value === true ? "1" : String(value));
  }
  return `#${made}`;
}

// A new step gets an entry in the history; a ticked box does not.
export function showPlace(place, isNew) {
  const hash = writePlace(place);
  if (hash === location.hash) return;
  try {
    if (isNew) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
  } catch { /* A frame of a notebook has no address. */ }
}
