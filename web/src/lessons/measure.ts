/** Values of a run by name, as lessons state them. */

import type { Run } from "../engine/protocol";

type Row = Record<string, unknown>;

/**
 * The value of an expression: a path, or a quotient of two paths. Paths are `run.METRIC`,
 * `flows.NAME.METRIC` (of a group the mean over its flows), `links.NAME.METRIC`,
 * `arrivals.GROUP.METRIC`, and `windows.FLOW.highest_cwnd_packets`, which the samples of the trace
 * give. The metrics are those of docs/metrics.md. Null where the run has no such value.
 */
export function measure(expression: string, run: Run): number | null {
  const [value, divisor] = expression.split(" / ").map((path) => valueAt(path, run));
  if (value === undefined || value === null || divisor === null) return null;
  return divisor === undefined ? value : value / divisor;
}

function valueAt(path: string, run: Run): number | null {
  const [table, name, metric] = path.split(".");
  const result = run.result as unknown as Record<string, unknown>;
  if (table === "run") return number(result[name ?? ""]);
  if (table === "windows") return highestWindow(run, name ?? "");
  const rows = (result[table ?? ""] ?? []) as Row[];
  const isNamed = (row: Row) => [row.flow, row.group, row.link].includes(name);
  const values = rows.filter(isNamed).map((row) => number(row[metric ?? ""]));
  if (!values.length || values.includes(null)) return null;
  return (values as number[]).reduce((sum, value) => sum + value, 0) / values.length;
}

function number(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function highestWindow(run: Run, name: string): number | null {
  const flow = run.result.flows.findIndex((row) => row.flow === name);
  const flows = run.columns["windows.flow"] as Uint32Array;
  const windows = run.columns["windows.cwnd_packets"] as Float64Array;
  let highest: number | null = null;
  windows.forEach((window, row) => {
    if (flows[row] === flow && (highest === null || window > highest)) highest = window;
  });
  return highest;
}

/** Factors from the metrics' units to those that a person reads. */
const FACTORS: Record<string, number> = { ms: 1e3, "%": 100, "Mbit/s": 1e-6 };

/** A value with its unit, to three digits; a whole number in full. */
export function withUnit(value: number, unit = ""): string {
  const shown = value * (FACTORS[unit] ?? 1);
  const isWhole = Number.isInteger(shown) || Math.abs(shown) >= 1000;
  const digits = isWhole ? shown.toFixed(0) : shown.toPrecision(3);
  return unit ? `${digits} ${unit}` : digits;
}
