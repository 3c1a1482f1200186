/** The plots that a step of a lesson shows. */

import type { FlowResult, Run } from "../engine/protocol";
import { flowColor } from "../plots/colors";
import { PhaseLegend } from "../plots/phase_legend";
import { PhasePlane } from "../plots/phase_plane";
import { bandsOf, drawBands, drawLosses } from "../plots/phases";
import { TimePlot, type Line } from "../plots/time_plot";
import type { Axes, PlotName } from "./lesson";
import { highestOf, valuesOf } from "./plot_values";

/** Flows beyond which a line's colour tells its group. */
const MOST_COLORS = 5;

/** Names, rules and colours of a run's flows, or of their groups where there are many. */
interface Entry {
  name: string;
  /** Empty for a flow of single responses, whose window does not matter. */
  rule: string;
  color: string;
}

function entriesOf({ result: { flows, arrivals } }: Run): { entries: Entry[]; colors: string[] } {
  const respond = new Set((arrivals as { group: string }[]).map(({ group }) => group));
  const ruleOf = ({ group, rule }: FlowResult) => (respond.has(group) ? "" : rule);
  if (flows.length <= MOST_COLORS) {
    const colors = flows.map((_, flow) => flowColor(flow));
    const entries = flows.map((flow, number) => ({
      name: flow.flow,
      rule: ruleOf(flow),
      color: colors[number] as string,
    }));
    return { entries, colors };
  }
  const groups = [...new Set(flows.map(({ group }) => group))];
  const colors = flows.map(({ group }) => flowColor(groups.indexOf(group)));
  const entries = groups.map((group, number) => {
    const members = flows.filter((flow) => flow.group === group);
    const name = `${members.length} × ${group}`;
    return { name, rule: ruleOf(members[0] as FlowResult), color: flowColor(number) };
  });
  return { entries, colors };
}

function flowLines(run: Run, flows: (number | null)[][]): Line[] {
  const { colors } = entriesOf(run);
  return flows.map((values, flow) => ({
    label: run.result.flows[flow]?.flow ?? "",
    color: colors[flow] ?? flowColor(flow),
    width: flows.length <= MOST_COLORS ? 1.5 : 1,
    values,
  }));
}

/** Titles and units of the plots of a value per flow. */
const TITLES = {
  windows: ["Congestion window", "packets"],
  goodput: ["Goodput", "Mbit/s"],
  rtt: ["Smoothed round trip time", "ms"],
} as const;

function Plot({ run, name, top = 0 }: { run: Run; name: PlotName; top?: number | undefined }) {
  const { duration_s: durationS, links } = run.result;
  if (name === "plane") return <PhasePlane {...{ run, top }} flows={[0, 1]} />;
  const { timesS, flows } = valuesOf(run, name);
  if (name === "queue") {
    const lines = [{ label: "queue", color: flowColor(7), values: flows[0] ?? [] }];
    const limit = links[0]?.limit_packets ?? 0;
    // A buffer that is never filled by half would leave the queue at the foot of the plot.
    const most = top || (highestOf(run, name) > limit / 2 ? limit : 0);
    return (
      <TimePlot title="Bottleneck queue" unit="packets" {...{ durationS, timesS, lines, most }} />
    );
  }
  const [title, unit] = TITLES[name];
  // The phases of one flow are told by bands; those of several would hide each other.
  const isAlone = name === "windows" && run.result.flows.length === 1;
  return (
    <>
      <TimePlot
        {...{ title, unit, durationS, timesS, most: top }}
        {...(name === "windows" ? { height: 230 } : {})}
        {...(isAlone ? { under: (plot: uPlot) => drawBands(plot, run, bandsOf(run, 0)) } : {})}
        {...(isAlone ? { over: (plot: uPlot) => drawLosses(plot, run, 0) } : {})}
        lines={flowLines(run, flows)}
      />
      {isAlone && <PhaseLegend run={run} />}
    </>
  );
}

function Legend({ run }: { run: Run }) {
  return (
    <ul class="legend">
      {entriesOf(run).entries.map(({ name, rule, color }) => (
        <li>
          <span class="swatch" style={{ background: color }} />
          {name} {rule && <code>{rule}</code>}
        </li>
      ))}
    </ul>
  );
}

export function StepPlots({ run, show, axes }: { run: Run; show: PlotName[]; axes: Axes }) {
  return (
    <div class="step-plots">
      <Legend run={run} />
      {show.map((name) => (
        <Plot key={name} {...{ run, name, top: axes[name] }} />
      ))}
    </div>
  );
}
