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

/** Tops of the axes that runs side by side share. */
export interface Tops {
  window: number;
  goodput: number;
  queue: number;
  rtt: number;
}

export function PlotsOfRun({ run, tops }: { run: Run; tops?: Tops }) {
  const common = { durationS: run.result.duration_s, over: prefixEdge(run) };
  return (
    <div class="plots">
      <TimePlot {...windowPanel(run)} {...common} height={210} most={tops?.window ?? 0} />
      <TimePlot {...goodputPanel(run)} {...common} most={tops?.goodput ?? 0} />
      <TimePlot
        {...queuePanel(run)}
        {...common}
        most={tops?.queue ?? bottleneckOf(run)?.limit_packets ?? 0}
      />
      <TimePlot {...rttPanel(run)} {...common} most={tops?.rtt ?? 0} />
    </div>
  );
}
