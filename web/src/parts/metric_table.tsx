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
const READABLE: Record<string, [string, number]> = {
  "bit/s": ["Mbit/s", 1e-6],
  s: ["ms", 1e3],
  ratio: ["", 1],
  packets: ["", 1],
};
const PERCENT = ["utilization", "loss_rate"];
/** Of a flow alone, more goodput is no matter of better: another flow has less. */
const NEUTRAL = ["goodput_bps"];

interface Row {
  key: string;
  name: string;
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
    const label = metric.label.replace(/^p(\d+) /, "$1th percentile ");
    if (table === "run")
      return [{ key: name, name, label, metric, values: both((run) => run.result[name]) }];
    if (table === "links")
      return [
        {
          key: name,
          name,
          label: `${label} (bottleneck)`,
          metric,
          values: both((run) => bottleneckOf(run)?.[name]),
        },
      ];
    return runs[0].result.flows.slice(0, 4).map((flow, index) => ({
      key: `${name} ${flow.flow}`,
      name,
      label: `${label} (${flow.flow})`,
      metric,
      values: both((run) => run.result.flows[index]?.[name]),
    }));
  });
}

function readable({ name, metric: { unit } }: Row): [unit: string, factor: number] {
  return PERCENT.includes(name) ? ["%", 100] : (READABLE[unit] ?? [unit, 1]);
}

/** The second value less the first: in percent of it, or as it is; a multiple where it is large. */
function difference(row: Row, first: number, second: number): string {
  const [unit, factor] = readable(row);
  const sign = second > first ? "+" : "−";
  const apart = Math.abs(second - first);
  if (unit === "%") return `${sign}${figure(apart, factor)} points`;
  if (first > 0 && second > 10 * first) return `${figure(second / first)}×`;
  return first === 0 ? `${sign}${figure(apart, factor)}` : `${sign}${figure(apart / first, 100)} %`;
}

/** How the second value stands to the first. */
function verdict(row: Row): string {
  const { name, metric, values } = row;
  const [first, second] = values;
  if (first === null || second === null) return "";
  if (first === second) return "equal";
  if (Math.abs(second - first) < 1e-3 * Math.abs(first)) return "≈ equal";
  const change = difference(row, first, second);
  if (metric.better === null || NEUTRAL.includes(name)) return change;
  return `${change}, ${second > first === (metric.better === "higher") ? "better" : "worse"}`;
}

/** A definition: text with `code`, *emphasis* aside. */
function Meaning({ text }: { text: string }) {
  const parts = text.replaceAll("**", "").split("`");
  return <p>{parts.map((part, index) => (index % 2 ? <code>{part}</code> : part))}</p>;
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
            <th scope="col">
              {names[1]} compared with {names[0]}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows(runs).map((row) => {
            const [unit, factor] = readable(row);
            return (
              <tr key={row.key}>
                <th scope="row">
                  <details>
                    <summary>
                      {row.label}
                      {unit && <small class="unit">, {unit}</small>}
                    </summary>
                    <Meaning text={row.metric.meaning} />
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
