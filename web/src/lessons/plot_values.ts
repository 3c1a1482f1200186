/** What the plots of a step show over time, in their units. */

import type { Run } from "../engine/protocol";
import { goodputTraces, queueTraces, windowTraces, type Traces } from "../plots/traces";
import type { PlotName } from "./lesson";

function scaled({ timesS, flows }: Traces, factor: number): Traces {
  const scale = (value: number | null) => (value === null ? null : value * factor);
  return { timesS, flows: flows.map((values) => values.map(scale)) };
}

/** Windows and queue in packets, goodput in Mbit/s, round trip time in ms; the plane's are windows. */
export function valuesOf(run: Run, name: PlotName): Traces {
  if (name === "goodput") return scaled(goodputTraces(run), 1e-6);
  if (name === "rtt") return scaled(windowTraces(run, "srtt_s"), 1e3);
  if (name === "queue") return queueTraces(run);
  return windowTraces(run, "cwnd_packets");
}

/** The highest value of a plot. */
export function highestOf(run: Run, name: PlotName): number {
  // The first link is the bottleneck; its queue alone is shown.
  const flows = valuesOf(run, name).flows.slice(0, name === "queue" ? 1 : undefined);
  return flows.flat().reduce<number>((highest, value) => Math.max(highest, value ?? 0), 0);
}
