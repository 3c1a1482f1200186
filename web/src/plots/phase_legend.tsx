/** What the bands and marks in a window plot mean. */

import type { Run } from "../engine/protocol";
import { phaseTint } from "./phases";

export function PhaseLegend({ run }: { run: Run }) {
  return (
    <p class="aside phases">
      {run.phases.map((phase) => (
        <span key={phase}>
          <i style={{ background: phaseTint(run, phase) }} />
          {phase}
        </span>
      ))}
      <span>▲ dropped packet</span>
      <span>✕ timeout</span>
    </p>
  );
}
