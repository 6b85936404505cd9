// What cannot be done here stays visible: a click says why, and which command does it.

import { byId, commandLine, el, fill } from "../dom.js";
import { placeBelow } from "../navigation/menus.js";

const BUTTONS = ["check-button", "rerun-button", "upload", "edit-button"];

const NO_EDITS = { said: "IR can be edited only if the server listens on this machine.", command: "" };

// Why nothing can be run: { said, command }; null if it can.
export function whyNot(page) {
  if (!page.source.canRunJobs && !page.source.command) return { said: "This server was started with --read-only: it shows, and runs nothing.", command: "" };
  if (!page.source.canRunJobs) return { said: "This page is a file, so nothing can run in it. This command opens the same with everything:", command: page.source.command };
  if (page.isText) return { said: "Another compiler made this run. To check or run passes, irkit would have to know what its IR means. Differences, blame, search, comparisons and reports need only its text.", command: "" };
  return null;
}

export class Unavailable {
  constructor(page) {
    this.page = page;
    this.menu = byId("unavailable");
    this.opens = new Map(BUTTONS.map((id) => [id, byId(id).getAttribute("popovertarget")]));
    // Before the button itself hears of it.
    addEventListener("click", (event) => {
      const button = event.target.closest?.("button[aria-disabled=true]");
      if (!button) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      this.show(button);
    }, true);
  }

  // Mark the buttons that do nothing for the chosen run.
  mark() {
    const why = whyNot(this.page);
    for (const [id, opens] of this.opens) {
      const button = byId(id);
      const off = id === "edit-button" && !this.page.source.canEdit || Boolean(why) && (id !== "upload" || !this.page.source.canRunJobs);
      button.hidden = false;
      if (off) button.setAttribute("aria-disabled", "true"); else button.removeAttribute("aria-disabled");
      if (!opens) continue;
      if (off) button.removeAttribute("popovertarget"); else button.setAttribute("popovertarget", opens);
    }
  }

  show(button) {
    const { said, command } = whyNot(this.page) ?? NO_EDITS;
    fill(this.menu, el("p", { role: "status" }, said), commandLine("", command));
    placeBelow(button, this.menu);
    this.menu.showPopover();
  }

  // Do something, or say why that is not possible.
  unless(go) {
    return () => { if (whyNot(this.page) || (go.edits && !this.page.source.canEdit)) this.show(byId("menu-button")); else go(); };
  }
}
