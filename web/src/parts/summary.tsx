/** The result of the run in one line of figures, and a row for each flow. */

import type { FlowResult, Run } from "../engine/protocol";
import { flowColor, flowDash } from "../plots/colors";
import { bottleneckOf } from "../plots/panels";

/** A figure with at most three significant digits; a dash where there is none. */
export function figure(value: number | null | undefined, factor = 1): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const scaled = value * factor;
  return Math.abs(scaled) >= 1000 ? scaled.toFixed(0) : String(Number(scaled.toPrecision(3)));
}

export function Summary({ run }: { run: Run }) {
  const { result } = run;
  const link = bottleneckOf(run);
  const figures: [name: string, value: string, unit: string][] = [
    ["Goodput", figure(result.aggregate_goodput_bps, 1e-6), "Mbit/s"],
    ["Utilization", figure(link?.utilization, 100), "%"],
    ["Jain's index", figure(result.jain_index), ""],
    ["Mean queueing delay", figure(link?.mean_queueing_delay_s, 1e3), "ms"],
    ["95th percentile queueing delay", figure(link?.p95_queueing_delay_s, 1e3), "ms"],
    ["Drops", figure(link?.dropped_packets), ""],
  ];
  return (
    <>
      <dl class="figures">
        {figures.map(([name, value, unit]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {value} <small>{unit}</small>
            </dd>
          </div>
        ))}
      </dl>
      <Measured run={run} />
    </>
  );
}

/** The time that the figures are of. */
export function Measured({ run: { result } }: { run: Run }) {
  const [fromS, toS] = [figure(result.measure_from_s), figure(result.measure_to_s)];
  return (
    <p class="measured">
      Measured from {fromS} s to {toS} s
      {(result.measure_from_s > 0 || result.measure_to_s < result.duration_s) &&
        "; the plots shade the rest"}
    </p>
  );
}

/** A line as a flow's is drawn. */
export function LineSample({ flow }: { flow: number }) {
  return (
    <svg class="line" width="22" height="8" aria-hidden="true">
      <line
        x1="1"
        x2="21"
        y1="4"
        y2="4"
        stroke={flowColor(flow)}
        stroke-width="2.5"
        stroke-dasharray={flowDash(flow).join(" ")}
      />
    </svg>
  );
}

/** Columns of what limited a flow, and how the table calls each. */
const LIMITS: [column: string, name: string][] = [
  ["limited_by_timeout", "timeout"],
  ["limited_by_recovery", "recovery"],
  ["limited_by_application", "application"],
  ["limited_by_receiver", "receiver"],
  ["limited_by_pacing", "pacing"],
  ["limited_by_slow_start", "slow start"],
  ["limited_by_cwnd", "cwnd"],
];

/** What limited a flow for a tenth of its time or more, the longest first. */
function limits(row: FlowResult): string {
  const shares = LIMITS.map(([column, name]) => ({ name, share: row[column] as number | null }));
  return shares
    .flatMap(({ name, share }) => (share !== null && share >= 0.1 ? [{ name, share }] : []))
    .sort((a, b) => b.share - a.share)
    .map(({ name, share }) => `${name} ${figure(Math.round(100 * share))} %`)
    .join(", ");
}

export function FlowTable({ run }: { run: Run }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Flows">
      <table>
        <thead>
          <tr>
            <th scope="col">Flow</th>
            <th scope="col">Rule</th>
            <th scope="col">Goodput, Mbit/s</th>
            <th scope="col">Mean RTT, ms</th>
            <th scope="col">Mean cwnd</th>
            <th scope="col">Loss, %</th>
            <th scope="col">Timeouts</th>
            <th scope="col">Limited by</th>
          </tr>
        </thead>
        <tbody>
          {run.result.flows.map((row, flow) => (
            <tr key={row.flow}>
              <th scope="row">
                <LineSample flow={flow} /> {row.flow}
              </th>
              <td class="mono">{row.rule}</td>
              <td>{figure(row.goodput_bps, 1e-6)}</td>
              <td>{figure(row.mean_rtt_s, 1e3)}</td>
              <td>{figure(row.mean_cwnd_packets)}</td>
              <td>{figure(row.loss_rate, 100)}</td>
              <td>{row.timeouts}</td>
              <td>{limits(row) || "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Names of the flows, each with a sample of its line. */
export function Legend({ run }: { run: Run }) {
  return (
    <p class="legend">
      {run.result.flows.slice(0, 12).map((flow, number) => (
        <span key={flow.flow}>
          <LineSample flow={number} /> {flow.flow} <span class="mono">{flow.rule}</span>
        </span>
      ))}
    </p>
  );
}
