// Scrolling along long lines: both columns move in step, and their numbers and signs stay.

const STEP = 160;

export class Along {
  constructor(view) {
    this.view = view;
    this.at = 0;
    view.addEventListener("wheel", (event) => {
      const by = event.deltaX || (event.shiftKey ? event.deltaY : 0);
      if (!by || Math.abs(by) < Math.abs(event.shiftKey ? 0 : event.deltaY) || !this.table) return;
      event.preventDefault();
      this.move(by);
    }, { passive: false });
  }

  // The table of lines that are cut and not wrapped.
  get table() { return this.view.querySelector(".lines:not(.wrapped, .pane-lines)"); }

  step(ahead) { this.move(ahead * STEP); }

  reset() { this.at = 0; }

  move(by) {
    const { table } = this;
    if (!table) return;
    this.at = Math.max(0, Math.min(this.at + by, Math.max(this.at, this.most(table))));
    table.classList.toggle("along", this.at > 0);
    table.style.setProperty("--along", `${-this.at}px`);
  }

  // How far the longest visible line goes on beyond its edge.
  most(table) {
    table.style.setProperty("--along", "0px");
    const box = this.view.getBoundingClientRect();
    const places = [0.25, 0.75].map((share) => box.left + share * this.view.clientWidth);
    let most = 0;
    for (let y = box.top + 4; y < Math.min(box.bottom, innerHeight); y += 11) {
      for (const x of places) {
        const code = document.elementFromPoint(x, y)?.closest(".code");
        if (code) most = Math.max(most, code.scrollWidth - code.clientWidth);
      }
    }
    return most;
  }
}
