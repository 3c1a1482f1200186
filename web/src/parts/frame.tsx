/** What surrounds every view: the views above, the trace hash below. */

import { route } from "../state/route";
import { description } from "../state/rules";
import { busy, dragging, error, run, stale } from "../state/runs";
import { theme, toggleTheme } from "../state/theme";

/** Views in the order of the navigation. */
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
    <header class="page">
      <h1>
        cwndlab <span>studio</span>
      </h1>
      <nav aria-label="Views">
        {VIEWS.map(([view, label]) => (
          <a
            key={view}
            href={`#/${view}`}
            aria-current={route.value.view === view ? "page" : undefined}
          >
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

/** What the page shows: the whole run, its first part, or none. */
function status(): string {
  const shown = run.value;
  if (stale.value) return shown ? "Not valid: the plots show the last valid run." : "No run.";
  if (!shown) return "Loading the simulator …";
  const { simulatedS, complete, result } = shown;
  if (complete)
    return `${result.duration_s} s simulated in ${shown.wallMs.toFixed(0)} ms, seed ${result.seed}`;
  const prefix = `The first ${simulatedS.toFixed(1)} s of ${result.duration_s} s, exact`;
  return dragging.value
    ? `${prefix}; release for the rest`
    : busy.value
      ? `${prefix}; running …`
      : prefix;
}

export function Footer() {
  const shown = run.value;
  const hash = shown?.complete && error.value === null ? shown.result.trace_hash : "";
  return (
    <footer class="page">
      <span role="status">{status()}</span>
      <span>
        trace hash <output class="hash mono">{hash || "…"}</output>
      </span>
      <span>cwndlab {description.value?.version ?? ""}</span>
    </footer>
  );
}
