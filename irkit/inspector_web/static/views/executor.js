// The program that the executor of a model runs: sizes, memory, calls, branches and loops.

import { el } from "../dom.js";

export async function executorView(source, { right, infos, onKernel }) {
  const { lines } = await source.executor(right);
  const rows = lines.map(({ text, kernel = "" }, at) => {
    const [before, after] = kernel ? [text.slice(0, text.indexOf(kernel)), text.slice(text.indexOf(kernel) + kernel.length)] : [text, ""];
    const name = kernel && infos?.has(kernel) ? el("button", { type: "button", class: "link", title: "Open this kernel", onclick: () => onKernel(kernel) }, kernel) : kernel;
    return el("div", { class: "row" }, el("span", { class: "no" }, String(at + 1)), el("span", { class: "code" }, before, name, after));
  });
  return el("div", { class: "lines pane-lines executor", tabindex: 0, role: "region", "aria-label": "The program of the executor" }, ...rows);
}
