// The keys. They do nothing while somebody types.

import { byId, el, fill } from "../dom.js";

export const KEYS = [
  ["0", "Overview: kernels, and what each pass did to them"],
  ["j", "Next pass"], ["k", "Previous pass"], ["n", "Next change"], ["p", "Previous change"], ["]", "Next line: its origin, and the pass that changed it"], ["[", "Previous line"],
  ["l", "Go to a line by its number"], ["/", "Search all passes"], ["g", "Go to a pass: filter by name"], ["G", "The group of this kernel in the graph"], ["h", "Hide passes that changed nothing, or show them"],
  ["u", "One column, or two"], ["v", "Next view: difference, rewrites, errors, loop nest or graph, executor, code, cost, time"], ["x", "All lines, or only what changed"], ["r", "Ignore names"], ["b", "Blame: the pass that last changed each line"],
  ["m", "Check whether the chosen pass keeps the meaning"], ["M", "Check all passes"], ["f", "Find the guilty pass"], ["w", "Time native code before and after the pass"], [", .", "Previous and next rewrite, slice of errors, or pass of LLVM’s, in its view"],
  ["c", "Compare from the chosen pass, or stop it"], ["a", "Put another run beside this one, or none"], ["o", "The same step of the other run"], ["s", "Times: slowest first, or in order"], ["e", "Change passes and run again"], ["E", "Edit the IR here and run the rest"], ["d", "Details of the pass, or none"], ["z", "Wrap long lines, or cut them"], ["< >", "Along long lines that are cut, as with Shift and the wheel"], ["t", "Next colours: system, light, dark"], ["?", "This list"], ["Ctrl K", "Palette: passes, kernels, commands, lines"], ["Esc", "Leave a box or a list"],
];

export function listen(actions, openPalette) {
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); openPalette(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target;
    if (event.key === "Escape" && target.matches?.("#filter")) { target.blur(); return; }
    const typing = target.matches?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
    if (typing || document.querySelector("dialog[open]")) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

export function showHelp() {
  const dialog = byId("help");
  const close = el("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const rows = KEYS.map(([key, what]) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key)), el("td", {}, what)));
  fill(dialog, el("h2", { id: "help-title" }, "Keys"), el("table", {}, el("tbody", {}, ...rows)),
    el("p", {}, "● changed something, ○ changed nothing, ✕ failed. − removed, + added. ✓ same results, ≈ same up to rounding, ≠ other results, ⇄ races, ⤓ out of bounds, ? cannot tell. Click a line to see where it comes from. The address in the browser is a link to what you see."), close);
  dialog.showModal();
  close.focus({ preventScroll: true });
  dialog.scrollTop = 0;
}
