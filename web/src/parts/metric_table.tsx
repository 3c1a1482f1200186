/** Metrics of two runs side by side; the name of each opens its definition. */

import type { Metric, Run } from "../engine/protocol";
import { bottleneckOf } from "../plots/panels";
import { description } from "../state/rules";
import { figure } from "./summary";

/** Metrics of the run, of its bottleneck, and of each flow, as the tables of results name them. */
const SHOWN: [table: "run" | "links" | "flows", name: string][] = [
  ["run", "aggregate_goodput_bps"],
  ["run", "jain_index"],
  ["run", "lowest_share"],
  ["links", "utilization"],
  ["links", "mean_queueing_delay_s"],
  ["links", "p95_queueing_delay_s"],
  ["links", "dropped_packets"],
  ["links", "marked_packets"],
  ["flows", "goodput_bps"],
  ["flows", "mean_rtt_s"],
  ["flows", "loss_rate"],
  ["flows", "timeouts"],
];

/** Units for readers: [unit, factor]. */
const READABLE: Record<string, [string, number]> = { "bit/s": ["Mbit/s", 1e-6], s: ["ms", 1e3] };

interface Row {
  key: string;
  label: string;
  metric: Metric;
  values: [number | null, number | null];
}

function rows(runs: [Run, Run]): Row[] {
  const number = (value: unknown) => (typeof value === "number" ? value : null);
  return SHOWN.flatMap(([table, name]): Row[] => {
    const metric = description.value?.metrics[table]?.[name];
    if (!metric) return [];
    const both = (of: (run: Run) => unknown): [number | null, number | null] => [
      number(of(runs[0])),
      number(of(runs[1])),
    ];
    if (table === "run")
      return [{ key: name, label: metric.label, metric, values: both((run) => run.result[name]) }];
    if (table === "links")
      return [
        {
          key: name,
          label: `${metric.label} (bottleneck)`,
          metric,
          values: both((run) => bottleneckOf(run)?.[name]),
        },
      ];
    return runs[0].result.flows.slice(0, 4).map((flow, index) => ({
      key: `${name} ${flow.flow}`,
      label: `${metric.label} (${flow.flow})`,
      metric,
      values: both((run) => run.result.flows[index]?.[name]),
    }));
  });
}

/** How the second value stands to the first, in words. */
function verdict({ metric, values: [first, second] }: Row): string {
  if (first === null || second === null || first === second) return "";
  const rises = second > first;
  if (metric.better === null) return rises ? "▲" : "▼";
  return `${rises ? "▲" : "▼"} ${rises === (metric.better === "higher") ? "better" : "worse"}`;
}

export function MetricTable({ runs, names }: { runs: [Run, Run]; names: [string, string] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Metrics of both settings">
      <table class="metrics">
        <thead>
          <tr>
            <th scope="col">Metric</th>
            <th scope="col">{names[0]}</th>
            <th scope="col">{names[1]}</th>
            <th scope="col">Second against first</th>
          </tr>
        </thead>
        <tbody>
          {rows(runs).map((row) => {
            const [unit, factor] = READABLE[row.metric.unit] ?? [row.metric.unit, 1];
            return (
              <tr key={row.key}>
                <th scope="row">
                  <details>
                    <summary>
                      {row.label}
                      {unit && <small class="unit">, {unit}</small>}
                    </summary>
                    <p>{row.metric.meaning}</p>
                  </details>
                </th>
                <td>{figure(row.values[0], factor)}</td>
                <td>{figure(row.values[1], factor)}</td>
                <td>{verdict(row)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
