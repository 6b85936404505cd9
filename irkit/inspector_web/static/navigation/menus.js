// Menus under the buttons that open them, and the bars between panels, which are dragged or moved by keys.

import { byId } from "../dom.js";

const APART = 6;

// Put each menu below its button, inside the window.
export function startMenus() {
  for (const button of document.querySelectorAll("[popovertarget]")) {
    const menu = byId(button.getAttribute("popovertarget"));
    button.setAttribute("aria-haspopup", "true");
    menu.addEventListener("beforetoggle", (event) => { if (event.newState === "open") placeBelow(button, menu); });
  }
}

export function placeBelow(button, menu) {
  const box = button.getBoundingClientRect();
  menu.style.top = `${box.bottom + APART}px`;
  menu.style.right = `${Math.max(8, innerWidth - box.right)}px`;
}

export function closeMenus() {
  for (const menu of document.querySelectorAll(".menu:popover-open")) menu.hidePopover();
}

// Let a bar change a length of the page, which the browser remembers.
function splitter(bar, { name, initial, least, most, of }) {
  const body = byId("body");
  let size = initial;
  const set = (to, keep = true) => {
    size = Math.round(Math.max(least, Math.min(most(), to)));
    body.style.setProperty(`--${name}`, `${size}px`);
    bar.setAttribute("aria-valuenow", String(size));
    bar.setAttribute("aria-valuemin", String(least));
    bar.setAttribute("aria-valuemax", String(Math.round(most())));
    if (keep) try { localStorage.setItem(`irkit-${name}`, String(size)); } catch { /* A private window remembers nothing. */ }
  };
  let kept = null;
  try { kept = Number(localStorage.getItem(`irkit-${name}`)); } catch { kept = null; }
  set(kept || initial, false);
  bar.addEventListener("pointerdown", (event) => {
    bar.setPointerCapture(event.pointerId);
    bar.classList.add("dragged");
    event.preventDefault();
  });
  bar.addEventListener("pointermove", (event) => { if (bar.hasPointerCapture(event.pointerId)) set(of(event)); });
  bar.addEventListener("pointerup", () => bar.classList.remove("dragged"));
  bar.addEventListener("dblclick", () => set(initial));
  bar.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -16, ArrowRight: 16, ArrowUp: 16, ArrowDown: -16 }[event.key];
    if (!by) return;
    event.preventDefault();
    set(size + by);
  });
}

export function startSplitters() {
  splitter(byId("split-passes"), { name: "list", initial: 260, least: 160, most: () => Math.max(200, innerWidth * 0.5), of: (event) => event.clientX - byId("body").getBoundingClientRect().left });
  splitter(byId("split-details"), { name: "drawer", initial: 250, least: 80, most: () => Math.max(120, innerHeight * 0.7), of: (event) => byId("body").getBoundingClientRect().bottom - event.clientY });
}
