/** The plane of two flows' windows with the lines of fairness and efficiency (Chiu and Jain 1989). */

import type { Run } from "../engine/protocol";
import { markedS } from "./cursor";
import { windowTraces } from "./traces";

const SIZE = 300;
const MARGIN = 38;
/** Samples that the mean covers while a time is marked; without one, a share of the run. */
const RECENT_SAMPLES = 400;
const RECENT_SHARE = 1 / 12;

/** Largest index whose time is not after `time`. */
function indexAt(timesS: readonly number[], time: number): number {
  let [low, high] = [0, timesS.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((timesS[middle] as number) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Colours of the path. A path element per colour, not per stroke: it is drawn anew while time plays. */
const COLORS = 40;

/** The strokes of one colour on which both windows grow, or on which they do not, as SVG paths. */
interface Strokes {
  growing: string;
  shrinking: string;
}

/** The path from one sample to another, in strokes of so many samples, by colour. */
function strokesOf(
  xs: readonly (number | null)[],
  ys: readonly (number | null)[],
  [begin, end, stride]: [begin: number, end: number, stride: number],
  place: (u: number, v: number) => string,
): Strokes[] {
  const strokes = Array.from({ length: COLORS }, (): Strokes => ({ growing: "", shrinking: "" }));
  for (let from = begin; from < end; from += stride) {
    const to = Math.min(from + stride, end);
    const [u, v, nextU, nextV] = [xs[from] ?? 0, ys[from] ?? 0, xs[to] ?? 0, ys[to] ?? 0];
    const color = Math.floor((COLORS * (from - begin)) / (end - begin));
    const kind = nextU >= u && nextV >= v ? "growing" : "shrinking";
    (strokes[color] as Strokes)[kind] += `M${place(u, v)}L${place(nextU, nextV)}`;
  }
  return strokes;
}

interface Props {
  run: Run;
  flows: [number, number];
  /** Tops of both axes, packets; otherwise a little more than what link and buffer hold. */
  top?: number | undefined;
}

export function PhasePlane({ run, flows: [first, second], top }: Props) {
  const { timesS, flows } = windowTraces(run, "cwnd_packets");
  const [xs, ys] = [flows[first] ?? [], flows[second] ?? []];
  const [a, b] = [run.result.flows[first], run.result.flows[second]];
  const link = run.result.links[0];
  if (!a || !b || !link) return null;
  const packetBits = 8 * (run.wireBytes[first] ?? 0);
  const bdp = (link.rate_bps * (a.base_rtt_s + b.base_rtt_s)) / 2 / packetBits;
  const limit = link.limit_packets;
  const full = bdp + (limit ?? 0);
  const end = markedS.value === null ? xs.length - 1 : indexAt(timesS, markedS.value);
  const recent =
    markedS.value === null
      ? indexAt(timesS, (timesS[end] ?? 0) * (1 - RECENT_SHARE))
      : Math.max(0, end - RECENT_SAMPLES);
  // The path begins where both flows send.
  const both = xs.findIndex((u, sample) => u !== null && ys[sample] != null);
  const begin = both < 0 ? end : Math.min(both, end);
  // Slow start may overshoot the plane: its path leaves it, so that the rest stays legible.
  const most = top || full * 1.08;
  const highest = [...xs, ...ys].reduce<number>((top, value) => Math.max(top, value ?? 0), 0);
  const x = (value: number) => MARGIN + (value / most) * (SIZE - MARGIN - 8);
  const y = (value: number) => SIZE - MARGIN - (value / most) * (SIZE - MARGIN - 8);
  // A point per round trip, as in the model: what happens within one is in no order.
  const sampleS = (timesS[1] ?? 1) - (timesS[0] ?? 0);
  const stride = Math.max(1, Math.round(Math.max(a.base_rtt_s, b.base_rtt_s) / sampleS));
  const place = (u: number, v: number) => `${x(u).toFixed(1)} ${y(v).toFixed(1)}`;
  const strokes = strokesOf(xs, ys, [begin, end, stride], place);
  const [u, v] = [xs[end] ?? 0, ys[end] ?? 0];
  const seconds = (sample: number) => `${(timesS[sample] ?? 0).toFixed(0)} s`;
  // Both windows multiplied by one factor stay on the line through the origin and their mean.
  const sum = (values: (number | null)[]) =>
    values.slice(recent, end + 1).reduce<number>((total, value) => total + (value ?? 0), 0);
  const meanRatio = sum(ys) / sum(xs);
  const recentS = (timesS[end] ?? 0) - (timesS[recent] ?? 0);
  const overflows = limit !== null && full < most;
  const line = (total: number) => ({ x1: x(0), y1: y(total), x2: x(total), y2: y(0) });
  return (
    <figure class="plot plane">
      <figcaption>
        Phase plane <span class="unit">windows, packets</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${SIZE} ${SIZE}`}
        role="img"
        aria-label={`Window of ${b.flow} over window of ${a.flow}: ${v.toFixed(0)} over ${u.toFixed(0)} packets`}
      >
        <clipPath id="plane">
          <rect x={MARGIN} y={0} width={SIZE - MARGIN} height={SIZE - MARGIN} />
        </clipPath>
        <path class="axis" d={`M${MARGIN} 8V${SIZE - MARGIN}H${SIZE - 4}`} />
        <g clip-path="url(#plane)">
          <line class="fair" x1={x(0)} y1={y(0)} x2={x(most)} y2={y(most)} />
          <line class="efficient" {...line(bdp)} />
          {overflows && <line class="overflow" {...line(full)} />}
          {Number.isFinite(meanRatio) && (
            <line class="mean" x1={x(0)} y1={y(0)} x2={x(most)} y2={y(most * meanRatio)} />
          )}
          {strokes.map(({ growing, shrinking }, color) => (
            <g key={color} style={{ "--share": `${(100 * color) / (COLORS - 1)}%` }}>
              <path class="orbit shrinking" d={shrinking} />
              <path class="orbit" d={growing} />
            </g>
          ))}
          <circle cx={x(u)} cy={y(v)} r={4} />
        </g>
        <text class="note" x={x(most * 0.9) - 12} y={y(most * 0.9)} text-anchor="end">
          fairness
        </text>
        <text class="note" x={x(bdp) + 2} y={y(0) - 4}>
          full link
        </text>
        {overflows && (
          <text class="note" x={x(0) + 4} y={y(full) - 3}>
            full queue
          </text>
        )}
        <text class="tick" x={SIZE - 4} y={SIZE - MARGIN + 14} text-anchor="end">
          {most.toFixed(0)}
        </text>
        <text class="tick" x={MARGIN - 4} y={16} text-anchor="end">
          {most.toFixed(0)}
        </text>
        <text x={(SIZE + MARGIN) / 2} y={SIZE - MARGIN + 28} text-anchor="middle">
          {a.flow}
        </text>
        <text transform={`translate(14 ${(SIZE - MARGIN) / 2}) rotate(-90)`} text-anchor="middle">
          {b.flow}
        </text>
      </svg>
      <p class="aside times">
        {seconds(begin)} <i /> {seconds(end)}, the point
      </p>
      <p class="aside">
        Thick: both windows grow; thin: one or both shrink. Dotted: from the origin through the mean
        of the last {recentS.toFixed(0)} s.
      </p>
      {highest > most && (
        <p class="aside">Windows reach {highest.toFixed(0)} packets, beyond the plane.</p>
      )}
    </figure>
  );
}
