// The palette: commands, kernels and passes by name, and any text after every pass.

import { byId, el, fill, paused, plural } from "../dom.js";

const MOST_STEPS = 60;
const MOST_ENTRIES = 8;

export class Palette {
  // `entries` lists what can be gone to or done: { group, text, hint, go }.
  constructor(source, { place, nameOf, entries, onFound, onChange }) {
    Object.assign(this, { source, place, nameOf, entries, onFound, onChange });
    this.dialog = byId("palette");
    this.box = byId("search");
    this.found = byId("found");
    this.requests = 0;
    this.onlyLines = false;
    const soon = paused(180, () => this.run());
    this.box.addEventListener("input", () => { if (!this.onlyLines) this.show([]); soon(); });
    for (const id of ["regex", "case"]) byId(id).addEventListener("change", () => this.run());
    byId("search-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.found.querySelector("button")?.click();
    });
    this.dialog.addEventListener("keydown", (event) => this.key(event));
    this.dialog.addEventListener("click", (event) => { if (event.target === this.dialog) this.close(); });
    byId("palette-button").addEventListener("click", () => this.open());
  }

  // Open it; with `onlyLines`, to search the lines of the IR.
  open(onlyLines = false) {
    this.onlyLines = onlyLines;
    this.box.placeholder = onlyLines ? "Text in any line, after any pass" : "Passes, kernels, commands, or text in any line";
    if (!this.dialog.open) this.dialog.showModal();
    this.box.focus();
    this.box.select();
    if (this.box.value) this.run();
    else this.show([]);
  }

  close() { this.dialog.close(); }

  key(event) {
    // Chromium only empties the field at first.
    if (event.key === "Escape") { event.preventDefault(); this.close(); return; }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const stops = [this.box, ...this.found.querySelectorAll("button")];
    const at = stops.indexOf(document.activeElement);
    const next = stops[Math.max(0, Math.min(stops.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)))];
    event.preventDefault();
    next.focus();
  }

  async run() {
    const mine = ++this.requests;
    const text = this.box.value;
    this.onChange(text, byId("regex").checked, byId("case").checked);
    if (!text) { this.show([]); return; }
    const place = this.place();
    try {
      const answer = await this.source.search(place.run, text, { regex: byId("regex").checked, exact: byId("case").checked });
      if (answer.problem) throw new Error(answer.problem);
      if (mine === this.requests) this.show(answer.found, place);
    } catch (error) {
      if (mine !== this.requests) return;
      fill(this.found, ...this.named(), el("p", { class: "error", role: "alert" }, error.message));
    }
  }

  show(found, place = null) {
    fill(this.found, ...this.named(), ...(place ? this.lines(found, place) : []));
    this.found.querySelector("button")?.classList.add("first");
  }

  // What matches by name, in groups.
  named() {
    if (this.onlyLines) return [];
    const words = this.box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = this.entries().filter((each) => words.every((word) => `${each.text} ${each.hint ?? ""}`.toLowerCase().includes(word)));
    const groups = new Map();
    for (const each of fits) groups.set(each.group, [...(groups.get(each.group) ?? []), each]);
    return [...groups].flatMap(([name, list]) => [el("h3", {}, name), el("ul", {}, ...list.slice(0, words.length ? MOST_ENTRIES : 5).map((each) => this.item(each.text, each.hint ?? "", each.go)))]);
  }

  lines(found, place) {
    const byFunction = new Map();
    for (const each of found) byFunction.set(each.function, [...(byFunction.get(each.function) ?? []), each]);
    const own = [...byFunction].sort(([a], [b]) => (b === place.fn) - (a === place.fn));
    const lists = own.flatMap(([name, hits]) => [el("h3", {}, name || "the module"), el("ul", {}, ...hits.slice(0, MOST_STEPS).map((hit) => this.hit(hit)))]);
    const said = found.length ? `In ${plural(found.length, "state")}. The first of each kernel is where it was introduced.` : "Not found before or after any pass.";
    return [el("p", { role: "status" }, said), ...lists];
  }

  hit(hit) {
    const where = hit.step < 0 ? "given, before the first pass" : `after ${hit.step} ${this.nameOf(hit.step)}`;
    return this.item(where, `${plural(hit.count, "line")}, first ${hit.lines[0]}`, () => this.onFound(hit), hit.text);
  }

  item(text, hint, go, line = "") {
    return el("li", {}, el("button", { type: "button", onclick: () => { this.close(); go(); } }, text, el("small", {}, hint), line ? el("code", { class: "found-line" }, line) : null));
  }
}
