/** The plots of a run that every view shares: windows, goodput, queue, round trip time. */

import { run } from "../state/runs";
import { flowColor, flowDash } from "../plots/colors";
import { TimePlot, type Line } from "../plots/time_plot";
import { goodputTraces, queueTraces, windowTraces, type Traces } from "../plots/traces";
import type { Run } from "../engine/protocol";

function flowLines(shown: Run, traces: Traces, factor = 1): Line[] {
  return traces.flows.map((values, flow) => ({
    label: shown.result.flows[flow]?.flow ?? "",
    color: flowColor(flow),
    dash: flowDash(flow),
    values: factor === 1 ? values : values.map((value) => (value === null ? null : value * factor)),
  }));
}

/** Marks where the first part of a run ends. */
function prefixEdge(shown: Run) {
  return (plot: uPlot) => {
    if (shown.complete) return;
    const x = plot.valToPos(shown.simulatedS, "x", true);
    plot.ctx.save();
    plot.ctx.strokeStyle = "gray";
    plot.ctx.setLineDash([4, 4]);
    plot.ctx.beginPath();
    plot.ctx.moveTo(x, plot.bbox.top);
    plot.ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
    plot.ctx.stroke();
    plot.ctx.restore();
  };
}

export function PlotsOfRun() {
  const shown = run.value;
  if (!shown) return null;
  const { duration_s: durationS, links } = shown.result;
  const windows = windowTraces(shown, "cwnd_packets");
  const goodput = goodputTraces(shown);
  const queues = queueTraces(shown);
  const rtt = windowTraces(shown, "srtt_s");
  const over = prefixEdge(shown);
  const bottleneck = links[0];
  return (
    <div class="plots">
      <TimePlot
        title="Congestion window"
        unit="packets"
        {...{ durationS, over }}
        height={210}
        timesS={windows.timesS}
        lines={flowLines(shown, windows)}
      />
      <TimePlot
        title="Goodput"
        unit="Mbit/s"
        {...{ durationS, over }}
        timesS={goodput.timesS}
        lines={flowLines(shown, goodput, 1e-6)}
      />
      <TimePlot
        title={`Queue of ${bottleneck?.link ?? ""}`}
        unit="packets"
        {...{ durationS, over }}
        most={bottleneck?.limit_packets ?? 0}
        timesS={queues.timesS}
        lines={[{ label: "queue", color: flowColor(7), values: queues.flows[0] ?? [] }]}
      />
      <TimePlot
        title="Smoothed round trip time"
        unit="ms"
        {...{ durationS, over }}
        timesS={rtt.timesS}
        lines={flowLines(shown, rtt, 1e3)}
      />
    </div>
  );
}
