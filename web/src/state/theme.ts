/** Light or dark: the system's choice until the reader makes one. */

import { effect, signal } from "@preact/signals";

export type Theme = "light" | "dark";

const KEY = "cwndlab-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

/** A page from disk may have no storage. */
function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

const chosen = signal(stored());
const systemIsDark = signal(system.matches);
system.addEventListener("change", () => (systemIsDark.value = system.matches));

/** The theme now. */
export const theme = signal<Theme>("light");

effect(() => {
  const isDark = chosen.value ? chosen.value === "dark" : systemIsDark.value;
  // The canvases read the colours of the document, so it changes first.
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  theme.value = isDark ? "dark" : "light";
});

export function toggleTheme(): void {
  chosen.value = theme.value === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(KEY, chosen.value);
  } catch {
    // The choice then lasts as long as the page.
  }
}
