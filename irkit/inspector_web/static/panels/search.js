// Search the IR after every pass: where a text occurs, and which pass introduced or removed it.

import { byId, el, fill, paused, plural } from "../dom.js";

const MOST_STEPS = 60;

export class Search {
  constructor(source, { place, nameOf, onFound, onChange }) {
    Object.assign(this, { source, place, nameOf, onFound, onChange });
    this.box = byId("search");
    this.found = byId("found");
    this.requests = 0;
    const soon = paused(180, () => this.run());
    this.box.addEventListener("input", soon);
    for (const id of ["regex", "case"]) byId(id).addEventListener("change", () => this.run());
    byId("search-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.found.querySelector("button")?.click();
    });
    byId("search-form").addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("click", (event) => {
      if (!event.target.closest("#search-form")) this.close();
    });
    this.box.addEventListener("focus", () => { if (this.box.value) this.found.hidden = !this.found.firstChild; });
  }

  close() { this.found.hidden = true; }

  key(event) {
    if (event.key === "Escape") { this.close(); this.box.blur(); return; }
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
    if (!text) { fill(this.found); this.close(); return; }
    const place = this.place();
    try {
      const answer = await this.source.search(place.run, text, { regex: byId("regex").checked, exact: byId("case").checked });
      if (answer.problem) throw new Error(answer.problem);
      if (mine === this.requests) this.show(answer.found, place);
    } catch (error) {
      if (mine !== this.requests) return;
      fill(this.found, el("p", { class: "error", role: "alert" }, error.message));
      this.found.hidden = false;
    }
  }

  show(found, place) {
    const byFunction = Map.groupBy ? Map.groupBy(found, (each) => each.function) : grouped(found);
    const own = [...byFunction].sort(([a], [b]) => (b === place.fn) - (a === place.fn));
    const lists = own.flatMap(([name, hits]) => [el("h3", {}, name || "the module"), el("ul", {}, ...hits.slice(0, MOST_STEPS).map((hit) => this.hit(hit)))]);
    const steps = plural(found.length, "state");
    fill(this.found, el("p", { role: "status" }, found.length ? `In ${steps}. The first of each function is where it was introduced.` : "Not found before or after any pass."), ...lists);
    this.found.hidden = false;
  }

  hit(hit) {
    const where = hit.step < 0 ? "given, before the first pass" : `after ${hit.step} ${this.nameOf(hit.step)}`;
    const go = () => { this.close(); this.onFound(hit); };
    return el("li", {}, el("button", { type: "button", onclick: go }, where, el("small", {}, `${plural(hit.count, "line")}, first ${hit.lines[0]}`)));
  }
}

function grouped(found) {
  const made = new Map();
  for (const each of found) made.set(each.function, [...(made.get(each.function) ?? []), each]);
  return made;
}
