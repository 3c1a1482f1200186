/** Tables of a run as lines over one axis of time. */

import type { Run } from "../engine/protocol";

/** Times and a value of each flow, null where its trace has no sample. */
export interface Traces {
  timesS: number[];
  flows: (number | null)[][];
}

/** Rows of each flow in a table whose rows lie flow by flow: [first, after the last]. */
export function rowsOfFlows(flows: ArrayLike<number>, count: number): [number, number][] {
  const rows: [number, number][] = Array.from({ length: count }, () => [0, 0]);
  for (let row = 0; row < flows.length;) {
    const flow = flows[row] as number;
    let end = row;
    while (end < flows.length && flows[end] === flow) end += 1;
    if (flow < count) rows[flow] = [row, end];
    row = end;
  }
  return rows;
}

/** A column of the window trace, flow by flow, over the times of the longest. */
export function windowTraces(run: Run, column: string): Traces {
  const times = run.columns["windows.time_s"] as Float64Array;
  const values = run.columns[`windows.${column}`] as Float64Array;
  const count = run.result.flows.length;
  const rows = rowsOfFlows(run.columns["windows.flow"] as Uint32Array, count);
  const [first, end] = rows.reduce(
    (most, one) => (one[1] - one[0] > most[1] - most[0] ? one : most),
    [0, 0],
  );
  const timesS = Array.from(times.subarray(first, end));
  // Samples of all flows lie on one grid; a flow lacks those after its last event, and is not drawn
  // before it sends.
  const outstanding = run.columns["windows.outstanding_packets"] as Float64Array;
  const srtt = run.columns["windows.srtt_s"] as Float64Array;
  const flows = rows.map(([from, to]) => {
    const line: (number | null)[] = Array.from(values.subarray(from, to), (value, sample) => {
      const row = from + sample;
      const sends = (outstanding[row] as number) > 0 || (srtt[row] as number) > 0;
      // A smoothed round trip time of 0: no sample yet.
      const isThere = sends && Number.isFinite(value) && (column !== "srtt_s" || value > 0);
      return isThere ? value : null;
    });
    while (line.length < timesS.length) line.push(null);
    return line;
  });
  return { timesS, flows };
}

/** Goodput of each flow in bins, bit/s; a time is the middle of its bin. */
export function goodputTraces(run: Run): Traces {
  const lengths = run.columns["rates.length"] as Uint32Array;
  const bits = run.columns["rates.bits"] as Float64Array;
  // The last bin of a run that goes on is not full yet.
  const count = Math.floor(run.simulatedS / run.rateBinS + 1e-9);
  const timesS = Array.from({ length: count }, (_, bin) => (bin + 0.5) * run.rateBinS);
  let start = 0;
  const flows = Array.from(lengths, (length) => {
    const own = bits.subarray(start, start + length);
    start += length;
    return timesS.map((_, bin) => (own[bin] ?? 0) / run.rateBinS);
  });
  return { timesS, flows };
}

/** Length of each link's queue, packets. */
export function queueTraces(run: Run): Traces {
  const lengths = run.columns["queues.length"] as Uint32Array;
  const intervals = run.columns["queues.interval_s"] as Float64Array;
  const packets = run.columns["queues.packets"] as Uint32Array;
  const most = Math.max(0, ...lengths);
  const timesS = Array.from({ length: most }, (_, sample) => sample * (intervals[0] ?? 0));
  let start = 0;
  const flows = Array.from(lengths, (length) => {
    const own = packets.subarray(start, start + length);
    start += length;
    return timesS.map((_, sample) => own[sample] ?? null);
  });
  return { timesS, flows };
}
