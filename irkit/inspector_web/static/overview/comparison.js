// Two runs compared: what is equal in them, and what differs first.

import { el, fill, plural } from "../dom.js";
import { runTitle } from "../panels/pickers.js";

const COMPARED_AT_ONCE = 4;
const MOST_DIFFERENT = 200;
const MOST_NAMED = 3;

// Two files do, if the address names nothing of them and no pass failed: that would come first.
export function opensAsComparison({ runs, opened }, { run, step, show, beside, fn }) {
  return opened === 2 && runs.length === 2 && [run, step, show, beside, fn].every((part) => part === null)
    && runs.every((each) => each.steps.length && each.steps.every((row) => row.status !== "failed"));
}

// A card that fills itself, function by function, while the page can be used.
export function comparisonCard(page) {
  const { place, overview, source, run } = page;
  const other = overview.runs[place.beside];
  const title = runTitle(overview.runs, place.beside);
  const said = el("p", { class: "comparison-said", role: "status" }, "Comparing…");
  const body = el("div", { class: "comparison-body" });
  const names = [...new Set([...run.functions, ...other.functions].map((each) => each.name))];
  const known = (one, name) => one.functions.some((each) => each.name === name);
  const element = el("section", { class: "card comparison", "aria-labelledby": "comparison-title" },
    el("header", {}, el("h2", { id: "comparison-title" }, "Compared with ", el("b", {}, title))), said, body);
  const all = new Map();
  const show = () => {
    const rows = names.map((name) => all.get(name)).filter(Boolean);
    fill(said, rows.length < names.length ? `Comparing… ${rows.length} of ${names.length}` : summary(rows, page, title));
    fill(body, differencesTable(rows, page, title));
  };
  const compare = async () => {
    const waiting = [...names];
    const next = async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const both = known(run, name) && known(other, name);
        all.set(name, { name, ...(both ? differenceOf(await source.beside(run.number, other.number, name)) : { only: known(run, name) ? "here" : title, place: Infinity }) });
        if (page.place.beside !== other.number || !element.isConnected) return;
        show();
      }
    };
    try { await Promise.all(Array.from({ length: COMPARED_AT_ONCE }, next)); } catch (error) { fill(said, error.message); }
  };
  // It is on the page once this call has returned.
  setTimeout(compare);
  return element;
}

// What differs in the steps of one function: the first, how many, and those of one run only.
function differenceOf(pairs) {
  const common = pairs.filter((pair) => pair.left !== null && pair.right !== null);
  const different = common.filter((pair) => !pair.same);
  const last = common.at(-1);
  const alone = pairs.filter((pair) => pair.left === null || pair.right === null);
  const at = pairs.findIndex((pair) => !pair.same);
  // A pass of the other run only stands before the next one of this run.
  const place = at < 0 ? Infinity : pairs.slice(at).find((pair) => pair.left !== null)?.left ?? Infinity;
  const isAlone = at >= 0 && alone.includes(pairs[at]);
  return { common: common.length, different: different.length, first: different[0]?.left ?? null, alone, before: isAlone ? pairs[at] : null, place, sameEnd: Boolean(last?.same) };
}

const earlier = (a, b) => a.place < b.place ? -1 : Number(a.place > b.place);
const isEqual = (row) => !row.only && !row.different && !row.alone.length;

function summary(rows, page, title) {
  const equal = rows.filter(isEqual).length;
  const what = page.isModel ? `${equal} of ${plural(rows.length, "function")} equal after every pass` : equal ? "equal after every pass" : "";
  if (equal === rows.length) return el("span", {}, `Everything is equal: the IR after every pass is that of ${title}.`);
  const told = what ? `${what}. ` : "";
  const other = rows.filter((row) => !row.only && !isEqual(row)).sort(earlier);
  if (!other.length) return el("span", {}, told);
  const [row] = other;
  const where = page.isModel ? ` on ${page.labelOf(row.name)}` : "";
  const after = other.filter((each) => each.first !== null).sort((a, b) => a.first - b.first)[0];
  const ir = after ? ["the IR after ", stepLink(after.first, page), after.name === row.name ? where : ` on ${page.labelOf(after.name)}`] : ["the IR after every common pass is the same"];
  if (!row.before) return el("span", {}, told, "What differs first: ", ...ir, ".");
  return el("span", {}, told, "What differs first: ", aloneLink(row.before, page), ` runs in ${row.before.left === null ? title : "this run"} only${where}; `, ...ir, ".");
}

const stepLink = (step, page) => el("button", { type: "button", class: "link", onclick: () => page.moves.goStep(step) }, `${step} ${page.run.steps[step].name}`);

// A pass that one of the runs has; one of the other run is shown there, with this one beside it.
function aloneLink({ left, right }, page) {
  if (left !== null) return stepLink(left, page);
  const { name } = page.overview.runs[page.place.beside].steps[right];
  const go = () => { page.keep({ show: null }); page.moves.goOther(right); };
  return el("button", { type: "button", class: "link", onclick: go }, `${right} ${name}`);
}

function differencesTable(rows, page, title) {
  const other = rows.filter((row) => !isEqual(row));
  if (!other.length) return null;
  other.sort(earlier);
  const line = (row) => el("tr", {}, el("th", { scope: "row" }, page.labelOf(row.name)),
    el("td", {}, row.only ? `only in ${row.only === "here" ? "this run" : row.only}` : row.first === null ? "none" : stepLink(row.first, page)),
    el("td", {}, row.only ? "" : `${row.different} of ${row.common}`),
    el("td", {}, row.only ? "" : aloneCell(row.alone, page)),
    el("td", {}, row.only ? "" : row.sameEnd ? "= same" : "≠ other"));
  return el("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": "What differs" },
    el("table", { class: "memory-table" }, el("caption", { class: "visually-hidden" }, `Functions that are not equal to those of ${title}`),
      el("thead", {}, el("tr", {}, ...["Function", "Differs first after", "Passes that differ", "In one run only", "At the end"].map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, ...other.slice(0, MOST_DIFFERENT).map(line))));
}

function aloneCell(alone, page) {
  if (!alone.length) return "";
  const links = alone.slice(0, MOST_NAMED).flatMap((pair, at) => [at ? ", " : ": ", aloneLink(pair, page)]);
  return el("span", {}, plural(alone.length, "pass", "passes"), ...links, alone.length > MOST_NAMED ? ", …" : "");
}
