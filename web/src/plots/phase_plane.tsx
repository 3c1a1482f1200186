/** The phase plane of two flows: one window against the other (Chiu and Jain 1989, figure 2). */

import type { Run } from "../engine/protocol";
import { flowColor } from "./colors";
import { cursorS } from "./cursor";
import { windowTraces } from "./traces";

const SIZE = 320;
const MARGIN = 38;
const INNER = SIZE - MARGIN - 12;

interface Point {
  x: number;
  y: number;
}

/** Packets that fill the first link with an empty queue, by its packets' mean size. */
function linkCapacity({ result }: Run): number | null {
  const [link, flow] = [result.links[0], result.flows[0]];
  const departed = link?.departed_packets as number | undefined;
  if (!link || !flow || !departed) return null;
  const spanS = result.measure_to_s - result.measure_from_s;
  const packetBits = (link.utilization * link.rate_bps * spanS) / departed;
  return (link.rate_bps * flow.base_rtt_s) / packetBits;
}

/** Windows of the first two flows while both have one, and the point under the cursor. */
function pointsOf(run: Run): { points: Point[]; marked: Point | undefined } {
  const { timesS, flows } = windowTraces(run, "cwnd_packets");
  const startsS = run.columns["phases.time_s"] as Float64Array;
  const starters = run.columns["phases.flow"] as Uint32Array;
  const secondS = startsS[starters.indexOf(1)] ?? 0;
  const points: Point[] = [];
  let marked: Point | undefined;
  timesS.forEach((timeS, row) => {
    const [x, y] = [flows[0]?.[row], flows[1]?.[row]];
    if (x == null || y == null || timeS < secondS) return;
    points.push({ x, y });
    if (cursorS.value === null || timeS <= cursorS.value) marked = { x, y };
  });
  return { points, marked };
}

/** About four round values up to the top of an axis. */
function ticksTo(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(most / 4));
  const step = power * ([1, 2, 5].find((factor) => most / (factor * power) <= 5) ?? 10);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, tick) => tick * step);
}

/** Windows of the first two flows of a run: a line along which time runs, and a dot at its end. */
export function PhasePlane({ run }: { run: Run }) {
  const [first, second] = run.result.flows;
  const { points, marked } = pointsOf(run);
  if (!first || !second || !points.length) return null;
  const most = Math.max(...points.flatMap(({ x, y }) => [x, y])) * 1.08;
  const x = (packets: number) => MARGIN + (packets / most) * INNER;
  const y = (packets: number) => SIZE - MARGIN - (packets / most) * INNER;
  const capacity = linkCapacity(run);
  const corner = Math.min(capacity ?? 0, most);
  const at = marked ? `${marked.x.toFixed(0)} and ${marked.y.toFixed(0)} packets` : "none";
  return (
    <figure class="plot plane">
      <figcaption>
        Phase plane <span class="unit">windows, packets</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${SIZE} ${SIZE}`}
        role="img"
        aria-label={`Windows of ${first.flow} and ${second.flow} against each other; now ${at}`}
      >
        {ticksTo(most).map((tick) => (
          <g class="tick">
            <line x1={x(tick)} y1={y(0)} x2={x(tick)} y2={y(most)} />
            <line x1={x(0)} y1={y(tick)} x2={x(most)} y2={y(tick)} />
            <text x={x(tick)} y={y(0) + 14} text-anchor="middle">
              {tick}
            </text>
            <text x={x(0) - 5} y={y(tick) + 4} text-anchor="end">
              {tick}
            </text>
          </g>
        ))}
        <line class="guide" x1={x(0)} y1={y(0)} x2={x(most)} y2={y(most)} />
        <text x={x(most) - 16} y={y(most) + 8} text-anchor="end">
          equal
        </text>
        {capacity !== null && (
          <>
            <line
              class="guide"
              x1={x(capacity - corner)}
              y1={y(corner)}
              x2={x(corner)}
              y2={y(capacity - corner)}
            />
            <text x={x(capacity - corner) + 12} y={y(corner) + 8}>
              link full
            </text>
          </>
        )}
        <polyline
          class="course"
          stroke={flowColor(0)}
          points={points
            .map((point) => `${x(point.x).toFixed(1)},${y(point.y).toFixed(1)}`)
            .join(" ")}
        />
        {marked && <circle cx={x(marked.x)} cy={y(marked.y)} r={5} fill={flowColor(1)} />}
        <text x={x(most / 2)} y={SIZE - 6} text-anchor="middle">
          {first.flow}
        </text>
        <text transform={`translate(10 ${y(most / 2)}) rotate(-90)`} text-anchor="middle">
          {second.flow}
        </text>
      </svg>
    </figure>
  );
}
