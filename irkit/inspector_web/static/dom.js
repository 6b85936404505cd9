// Create elements. Strings become text nodes; HTML comes only from the server, which escapes it.

export function el(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const byId = (id) => document.getElementById(id);

export function fill(parent, ...children) {
  parent.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

const IN_ENGLISH = new Intl.NumberFormat("en");

export function plural(count, one, many) {
  return `${IN_ENGLISH.format(count)} ${count === 1 ? one : many ?? one + "s"}`;
}

const outOfView = new Set();

// Scroll an element into view with the next frame: at once, the browser would lay out the page for it.
export function revealSoon(element) {
  if (!outOfView.size) {
    requestAnimationFrame(() => {
      const all = [...outOfView];
      outOfView.clear();
      for (const each of all) each?.scrollIntoView({ block: "nearest", inline: "nearest" });
    });
  }
  outOfView.add(element);
}

export function milliseconds(ms) {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  if (ms >= 10) return `${ms.toFixed(0)} ms`;
  return ms >= 0.1 ? `${ms.toFixed(1)} ms` : `${Math.round(ms * 1000)} µs`;
}

// Delay a call until no other has come for a while, such as while somebody types.
export function paused(wait, run) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...given), wait);
  };
}

// A command with what it is for, and a button that copies it; nothing without a command.
export function commandLine(said, command) {
  if (!command) return null;
  const copy = el("button", { type: "button", class: "copy", title: "Copy the command", "aria-label": "Copy the command", onclick: () => copyText(command, copy) }, "Copy");
  return el("p", { class: "command" }, said ? `${said} ` : null, el("code", {}, command), " ", copy);
}

// An error in words; that of a job that failed has the command that runs it again.
export function errorParts(error) {
  return [el("p", {}, error.message), commandLine("See it again:", error.replay)].filter(Boolean);
}

// Copy a text, and say so on the button.
export async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const box = el("textarea", { class: "visually-hidden" });
    box.value = text;
    document.body.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
  }
  const old = button.textContent;
  button.textContent = "✓";
  setTimeout(() => { button.textContent = old; }, 900);
}
