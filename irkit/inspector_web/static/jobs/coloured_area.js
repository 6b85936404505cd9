// A text area whose lines are coloured: those in view are drawn below it, where its own text would be.

import { el, fill } from "../dom.js";
import { colouredLine } from "../views/code_lexer.js";

const MOST_COLOURED = 2000;

// Return a box with the area in it, and what paints it again after its text was set by a program.
export function colouredArea(area) {
  const drawn = el("div", { class: "edit-drawn", "aria-hidden": "true" });
  let [text, lines] = [null, []];
  const paint = () => {
    if (text !== area.value) { text = area.value; lines = text.split("\n"); }
    const { paddingTop, lineHeight } = getComputedStyle(area);
    const row = parseFloat(lineHeight);
    const first = Math.max(0, Math.floor((area.scrollTop - parseFloat(paddingTop)) / row));
    const count = Math.ceil(area.clientHeight / row) + 1;
    fill(drawn, ...lines.slice(first, first + count).map((line) => el("div", {}, ...colouredLine("ir", line.slice(0, MOST_COLOURED)), line.slice(MOST_COLOURED))));
    drawn.style.transform = `translate(${-area.scrollLeft}px, ${first * row - area.scrollTop}px)`;
  };
  area.addEventListener("input", paint);
  area.addEventListener("scroll", paint);
  new ResizeObserver(paint).observe(area);
  return { box: el("div", { class: "edit-box" }, drawn, area), paint };
}
