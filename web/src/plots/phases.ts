/** Phases of a flow over time, as bands behind its window; a name stands in each that has room. */

import type uPlot from "uplot";
import type { Run } from "../engine/protocol";
import { theme } from "../state/theme";
import { cssColor } from "./colors";
import { rowsOfFlows } from "./traces";

/** A time in one phase. */
export interface Band {
  fromS: number;
  toS: number;
  phase: string;
}

const TINTS: Record<string, { light: string; dark: string }> = {
  "slow start": { light: "#d9ecd8", dark: "#1f3a24" },
  "congestion avoidance": { light: "#00000000", dark: "#00000000" },
  recovery: { light: "#fbe3c0", dark: "#4a3512" },
  loss: { light: "#f6cfcb", dark: "#56211d" },
};
/** Of the phases that a rule has of its own, such as BBR's, in order of appearance. */
const OTHERS = [
  { light: "#dbe7f5", dark: "#1d3048" },
  { light: "#ecdff2", dark: "#382545" },
  { light: "#d5efec", dark: "#173b38" },
  { light: "#f2ecd0", dark: "#3d3715" },
];

/** The colour of a phase. */
export function phaseTint(run: Run, phase: string): string {
  const own = run.phases.filter((name) => !TINTS[name]);
  const tint = TINTS[phase] ?? OTHERS[own.indexOf(phase) % OTHERS.length];
  return tint?.[theme.value] ?? "transparent";
}

/** The phases of a flow, each as long as it lasts. */
export function bandsOf(run: Run, flow: number): Band[] {
  const [first, end] = rowsOfFlows(run.columns["phases.flow"] as Uint32Array, flow + 1)[flow] ?? [
    0, 0,
  ];
  const times = run.columns["phases.time_s"] as Float64Array;
  const phases = run.columns["phases.phase"] as Uint32Array;
  const bands: Band[] = [];
  for (let row = first; row < end; row += 1) {
    const phase = run.phases[phases[row] as number] ?? "";
    const fromS = times[row] as number;
    const last = bands.at(-1);
    if (last) last.toS = fromS;
    if (last?.phase !== phase) bands.push({ fromS, toS: run.simulatedS, phase });
  }
  const last = bands.at(-1);
  if (last) last.toS = run.simulatedS;
  return bands;
}

/** Draws bands behind a plot's lines. */
export function drawBands(plot: uPlot, run: Run, bands: Band[]): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  for (const { fromS, toS, phase } of bands) {
    const [left, right] = [plot.valToPos(fromS, "x", true), plot.valToPos(toS, "x", true)];
    ctx.fillStyle = phaseTint(run, phase);
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
    const start = Math.max(left, bbox.left) + 4;
    if (ctx.measureText(phase).width + 8 > Math.min(right, bbox.left + bbox.width) - start)
      continue;
    ctx.fillStyle = cssColor("muted");
    ctx.fillText(phase, start, bbox.top + 11 * devicePixelRatio);
  }
  ctx.restore();
}

/** Marks losses at the foot of a plot: a triangle is a dropped packet, a cross a timeout. */
export function drawLosses(plot: uPlot, run: Run, flow: number): void {
  const [first, end] = rowsOfFlows(run.columns["losses.flow"] as Uint32Array, flow + 1)[flow] ?? [
    0, 0,
  ];
  const times = run.columns["losses.time_s"] as Float64Array;
  const timeouts = run.columns["losses.is_timeout"] as Uint32Array;
  const { ctx, bbox } = plot;
  const size = 4 * devicePixelRatio;
  const y = bbox.top + bbox.height - size;
  ctx.save();
  ctx.fillStyle = ctx.strokeStyle = cssColor("bad");
  ctx.lineWidth = 1.5 * devicePixelRatio;
  for (let row = first; row < end; row += 1) {
    const x = plot.valToPos(times[row] as number, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    if (timeouts[row]) {
      ctx.moveTo(x - size, y - 2 * size);
      ctx.lineTo(x + size, y);
      ctx.moveTo(x + size, y - 2 * size);
      ctx.lineTo(x - size, y);
      ctx.stroke();
    } else {
      ctx.moveTo(x - size, y + size);
      ctx.lineTo(x + size, y + size);
      ctx.lineTo(x, y - size / 2);
      ctx.fill();
    }
  }
  ctx.restore();
}
