// The theme: dark, light, or that of the system; remembered by the browser.

const THEMES = ["system", "light", "dark"];

function remembered() {
  try { return localStorage.getItem("irkit-theme"); } catch { return null; }
}

export function setTheme(name) {
  const chosen = THEMES.includes(name) ? name : "system";
  document.documentElement.dataset.theme = chosen;
  document.getElementById("theme").value = chosen;
  try { localStorage.setItem("irkit-theme", chosen); } catch { /* A private window remembers nothing. */ }
}

export function nextTheme() {
  setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
}

export function startTheme() {
  setTheme(remembered() ?? "system");
  document.getElementById("theme").addEventListener("change", (event) => setTheme(event.target.value));
}
