// The graph of a step on the page: folds that open and close, colours, and ways to kernels.

import { el } from "../dom.js";
import { GRAPH_COLOURS, graphColours, KernelsOfGraph } from "./graph_colours.js";
import { graphPicture } from "./graph_picture.js";

export async function graphPage(source, given) {
  const opened = new Set((given.opened ?? "").split(",").filter(Boolean).map(decodeURIComponent));
  const kernels = new KernelsOfGraph(given.infos);
  const [made, colours] = await Promise.all([source.graph(given.right, [...opened]), graphColours(source, given, kernels)]);
  const open = (keys, box) => given.onGraph({ opened: keys.map(encodeURIComponent).join(",") || null, box });
  const isOpen = (key) => opened.has("*") || opened.has(key);
  const folds = made.view.folds ?? [];
  const picker = el("select", { "aria-label": "Colours by", title: "Colours by", onchange: (event) => given.onGraph({ colour: event.target.value === "kind" ? null : event.target.value }) },
    ...GRAPH_COLOURS.map((name) => el("option", { value: name, selected: name === (given.colour ?? "kind") }, `by ${name}`)));
  const all = folds.every(isOpen);
  const toggle = folds.length ? el("button", { type: "button", class: "fold-all", title: all ? "One box for each run of equal blocks" : "Show the boxes of all repeated blocks", onclick: () => open(all ? [] : ["*"], null) }, all ? "Fold" : "Unfold") : null;
  return graphPicture(made, {
    ...given, kernels, paint: colours.paint, legend: colours.legend, tools: [picker, toggle],
    onFold: (key) => open(isOpen(key) ? folds.filter((each) => each !== key && isOpen(each)) : [...folds.filter(isOpen), key], key.replace(/^fold /, "")),
  });
}
