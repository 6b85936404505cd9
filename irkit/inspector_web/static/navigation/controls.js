// Connect the controls and keys of the page to its moves.

import { byId, paused } from "../dom.js";
import { KEYS, listen, showHelp } from "./keys.js";
import { closeMenus } from "./menus.js";
import { nextTheme } from "../theme.js";

export function connect(page) {
  const { moves } = page;
  byId("run").addEventListener("change", (event) => moves.goRun(Number(event.target.value)));
  byId("beside").addEventListener("change", (event) => moves.putBeside(event.target.value === "" ? null : Number(event.target.value)));
  byId("partner").addEventListener("click", () => moves.goPartner());
  byId("function").addEventListener("change", (event) => moves.goFunction(event.target.value));
  byId("from").addEventListener("change", (event) => moves.compare(event.target.value || null));
  byId("filter").addEventListener("input", paused(60, () => { page.keep({ filter: byId("filter").value }); page.showPasses(); }));
  byId("touches").addEventListener("input", paused(200, () => { page.keep({ touches: byId("touches").value }); page.showPasses(); }));
  byId("hide").addEventListener("change", () => moves.flip("hide"));
  for (const name of ["names", "blame", "whole", "wrap"]) byId(name).addEventListener("click", () => moves.flip(name));
  byId("shows").addEventListener("click", (event) => { if (event.target.dataset.show !== undefined) moves.goShow(event.target.dataset.show); });
  byId("inline").addEventListener("click", () => moves.flipInline());
  byId("next").addEventListener("click", () => page.view.go(1));
  byId("previous").addEventListener("click", () => page.view.go(-1));
  byId("line").addEventListener("keydown", (event) => { if (event.key === "Enter") { moves.goNumber(byId("line").value); closeMenus(); } });
  byId("help-button").addEventListener("click", () => { closeMenus(); showHelp(); });
  byId("crumb-model").addEventListener("click", () => { if (page.ready) moves.goShow("overview"); });
  byId("rerun-button").addEventListener("click", () => { if (page.ready) moves.goShow("rerun"); });
  byId("edit-button").addEventListener("click", () => { closeMenus(); if (page.ready) moves.goShow("edit"); });
  byId("to").addEventListener("click", () => toggleDetails(page));
  byId("check-buttons").addEventListener("click", closeMenus);
  byId("tabs").addEventListener("click", (event) => { if (event.target.dataset.tab) page.showTab(event.target.dataset.tab); });
  addEventListener("hashchange", () => page.arrive());
  addEventListener("popstate", () => page.arrive());
  const actions = keysOf(page);
  page.commands = KEYS.filter(([key]) => actions[key]).map(([key, text]) => ({ key, text, go: actions[key] }));
  listen(actions, () => page.palette.open());
  // Clicks had no effect until now.
  byId("body").inert = false;
}

function toggleDetails(page) {
  page.keep({ details: !page.place.details });
  page.showPanes();
}

// Open the menu for a field in it.
function inMenu(id) {
  if (!byId("menu").matches(":popover-open")) byId("menu").showPopover();
  byId(id).focus();
  byId(id).select?.();
}

function keysOf(page) {
  const { moves } = page;
  const ready = (action) => () => { if (page.ready) action(); };
  const move = (ahead) => ready(() => moves.goStep(page.passes.after(page.place.step, ahead)));
  return {
    j: move(1), k: move(-1),
    n: () => page.view.go(1), p: () => page.view.go(-1),
    "]": ready(() => page.goRow(1)), "[": ready(() => page.goRow(-1)),
    o: ready(() => moves.goPartner()), a: ready(() => moves.nextBeside()), s: ready(() => moves.flip("slow")),
    "/": () => page.palette.open(true),
    l: ready(() => { page.showTab("diff"); inMenu("line"); }),
    g: () => { page.showTab("passes"); byId("filter").focus(); byId("filter").select(); },
    h: ready(() => moves.flip("hide")), u: ready(() => moves.flipInline()), x: ready(() => moves.flip("whole")),
    r: ready(() => moves.flip("names")), b: ready(() => moves.flip("blame")),
    c: ready(() => { if (page.source.canCompare) moves.compare(page.place.from ? null : page.states()[1]); }),
    v: ready(() => { const shows = page.shows.filter((each) => each !== "rerun" && each !== "edit"); moves.goShow(shows[(shows.indexOf(page.place.show ?? "") + 1) % shows.length]); }),
    e: ready(page.unavailable.unless(() => moves.goShow(page.place.show === "rerun" ? "" : "rerun"))),
    E: ready(page.unavailable.unless(Object.assign(() => moves.goShow(page.place.show === "edit" ? "" : "edit"), { edits: true }))),
    d: ready(() => toggleDetails(page)), z: ready(() => moves.flip("wrap")), "<": () => page.view.along.step(-1), ">": () => page.view.along.step(1),
    G: ready(() => moves.goGraph(page.place.fn)),
    0: ready(() => moves.goShow("overview")),
    ...Object.fromEntries(Object.entries(page.runJobs.keys()).map(([key, action]) => [key, ready(action)])),
    t: nextTheme, "?": showHelp,
  };
}
