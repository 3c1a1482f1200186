/** What surrounds every view: the views above, the trace hash below. */

import { route } from "../state/route";
import { error, run } from "../state/runs";
import { theme, toggleTheme } from "../state/theme";

const VIEWS = [
  ["build", "Build"],
  ["look", "Look"],
  ["compare", "Compare"],
  ["share", "Share"],
  ["lessons", "Lessons"],
  ["game", "Game"],
] as const;

export function Header() {
  return (
    <header>
      <h1>
        cwndlab <span>studio</span>
      </h1>
      <nav aria-label="Views">
        {VIEWS.map(([view, label]) => (
          <a href={`#/${view}`} aria-current={route.value.view === view ? "page" : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <button type="button" class="quiet" onClick={toggleTheme}>
        {theme.value === "dark" ? "Light" : "Dark"}
      </button>
    </header>
  );
}

export function Footer() {
  const shown = run.value;
  return (
    <footer>
      <output class="hash" aria-label="Trace hash">
        {shown?.complete && !error.value ? shown.result.trace_hash : "…"}
      </output>
    </footer>
  );
}
