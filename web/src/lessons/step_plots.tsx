/** The plots that a step of a lesson shows. */

import type { Run } from "../engine/protocol";
import { flowColor, flowDash } from "../plots/colors";
import { PhasePlane } from "../plots/phase_plane";
import { bandsOf, drawBands, drawLosses } from "../plots/phases";
import { TimePlot, type Line } from "../plots/time_plot";
import { goodputTraces, queueTraces, windowTraces, type Traces } from "../plots/traces";
import type { PlotName } from "./lesson";

function flowLines(run: Run, { flows }: Traces, factor = 1): Line[] {
  return flows.map((values, flow) => ({
    label: run.result.flows[flow]?.flow ?? "",
    color: flowColor(flow),
    dash: flowDash(flow),
    values: values.map((value) => (value === null ? null : value * factor)),
  }));
}

/** A plot over time: its title and unit, its values, and the factor from their unit. */
const TIME_PLOTS = {
  windows: ["Congestion window", "packets", (run: Run) => windowTraces(run, "cwnd_packets"), 1],
  goodput: ["Goodput", "Mbit/s", goodputTraces, 1e-6],
  rtt: ["Smoothed round trip time", "ms", (run: Run) => windowTraces(run, "srtt_s"), 1e3],
} as const;

function Plot({ run, name }: { run: Run; name: PlotName }) {
  const { duration_s: durationS, links } = run.result;
  if (name === "plane") return <PhasePlane run={run} flows={[0, 1]} />;
  if (name === "queue") {
    const { timesS, flows } = queueTraces(run);
    const lines = [{ label: "queue", color: flowColor(7), values: flows[0] ?? [] }];
    const most = links[0]?.limit_packets ?? 0;
    const highest = Math.max(...(flows[0] ?? []).map((packets) => packets ?? 0));
    return (
      <TimePlot
        title="Queue at the bottleneck"
        unit="packets"
        // A buffer that is never filled by half would leave the queue at the foot of the plot.
        {...{ durationS, timesS, lines, most: highest > most / 2 ? most : 0 }}
      />
    );
  }
  const [title, unit, tracesOf, factor] = TIME_PLOTS[name];
  const traces = tracesOf(run);
  // The phases of one flow are told by bands; those of several would hide each other.
  const isAlone = name === "windows" && run.result.flows.length === 1;
  return (
    <TimePlot
      {...{ title, unit, durationS, timesS: traces.timesS }}
      {...(name === "windows" ? { height: 230 } : {})}
      {...(isAlone ? { under: (plot: uPlot) => drawBands(plot, run, bandsOf(run, 0)) } : {})}
      {...(isAlone ? { over: (plot: uPlot) => drawLosses(plot, run, 0) } : {})}
      lines={flowLines(run, traces, factor)}
    />
  );
}

/** Flows by colour, once each; of many flows of a group only the group. */
function Legend({ run }: { run: Run }) {
  const { flows } = run.result;
  const isShort = flows.length <= 5;
  const entries = isShort ? flows.map(({ flow, rule }) => ({ flow, rule })) : groups(run);
  return (
    <ul class="legend">
      {entries.map(({ flow, rule }, number) => (
        <li>
          {isShort && <span class="swatch" style={{ background: flowColor(number) }} />}
          {flow} <code>{rule}</code>
        </li>
      ))}
    </ul>
  );
}

function groups(run: Run): { flow: string; rule: string }[] {
  const counts = new Map<string, number>();
  for (const { group, rule } of run.result.flows) {
    const key = `${group}\n${rule}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => {
    const [group = "", rule = ""] = key.split("\n");
    return { flow: `${count} × ${group}`, rule };
  });
}

export function StepPlots({ run, show }: { run: Run; show: PlotName[] }) {
  return (
    <div class="step-plots">
      <Legend run={run} />
      {show.map((name) => (
        <Plot key={name} {...{ run, name }} />
      ))}
    </div>
  );
}
