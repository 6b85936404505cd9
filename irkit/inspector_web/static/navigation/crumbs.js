// Where one is: the file, the kernel, the pass; each leads to its own page.

import { byId, el, fill } from "../dom.js";

export function showCrumbs(page) {
  const { isOverview, place, moves } = page;
  const current = (button, is) => { if (is) button.setAttribute("aria-current", "page"); else button.removeAttribute("aria-current"); };
  current(byId("crumb-model"), isOverview);
  document.title = isOverview ? `${byId("title").textContent} · irkit` : `${page.step?.name ?? ""} · ${place.fn || byId("title").textContent} · irkit`;
  if (isOverview || !page.step) { fill(byId("crumbs")); return; }
  const apart = () => el("span", { class: "crumb-apart", "aria-hidden": "true" }, "›");
  const kernel = el("button", { type: "button", class: "crumb", title: `${place.fn}: its first change`, onclick: () => moves.goKernel(place.fn) }, page.labelOf(place.fn));
  const pass = el("button", { type: "button", class: "crumb", "aria-current": "page", onclick: () => moves.goShow("") }, page.step.name);
  const graph = page.run.infos?.get(place.fn)?.values?.length ? el("button", { type: "button", class: "crumb in-graph", title: "Its group in the graph (G)", onclick: () => moves.goGraph(place.fn) }, "in the graph") : null;
  fill(byId("crumbs"), apart(), kernel, graph, apart(), pass);
}
