/** The plots of a run, one below the other. */

import type uPlot from "uplot";
import type { Run } from "../engine/protocol";
import { cssColor } from "../plots/colors";
import { bottleneckOf, goodputPanel, queuePanel, rttPanel, windowPanel } from "../plots/panels";
import { TimePlot } from "../plots/time_plot";

/** Marks where the first part of a run ends. */
function prefixEdge(run: Run) {
  return (plot: uPlot) => {
    if (run.complete) return;
    const x = plot.valToPos(run.simulatedS, "x", true);
    plot.ctx.save();
    plot.ctx.strokeStyle = cssColor("muted");
    plot.ctx.setLineDash([4, 4]);
    plot.ctx.beginPath();
    plot.ctx.moveTo(x, plot.bbox.top);
    plot.ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
    plot.ctx.stroke();
    plot.ctx.restore();
  };
}

/** Shades the time that the figures leave out. */
function unmeasured({ result }: Run) {
  return ({ ctx, bbox, valToPos }: uPlot) => {
    const right = bbox.left + bbox.width;
    const x = (timeS: number) => Math.min(Math.max(valToPos(timeS, "x", true), bbox.left), right);
    ctx.save();
    ctx.fillStyle = cssColor("unmeasured");
    const [from, to] = [x(result.measure_from_s), x(result.measure_to_s)];
    ctx.fillRect(bbox.left, bbox.top, from - bbox.left, bbox.height);
    ctx.fillRect(to, bbox.top, right - to, bbox.height);
    ctx.restore();
  };
}

/** Tops of the axes that runs side by side share. */
export interface Tops {
  window: number;
  goodput: number;
  queue: number;
  rtt: number;
}

interface Props {
  run: Run;
  tops?: Tops | undefined;
}

const common = (run: Run) => ({
  durationS: run.result.duration_s,
  under: unmeasured(run),
  over: prefixEdge(run),
});

export function WindowsOfRun({ run, tops }: Props) {
  return <TimePlot {...windowPanel(run)} {...common(run)} height={210} most={tops?.window ?? 0} />;
}

export function OtherPlots({ run, tops }: Props) {
  const limit = bottleneckOf(run)?.limit_packets ?? 0;
  return (
    <>
      <TimePlot {...goodputPanel(run)} {...common(run)} most={tops?.goodput ?? 0} />
      <TimePlot {...queuePanel(run)} {...common(run)} most={tops?.queue ?? limit} />
      <TimePlot {...rttPanel(run)} {...common(run)} most={tops?.rtt ?? 0} />
    </>
  );
}
