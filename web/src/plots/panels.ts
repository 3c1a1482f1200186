/** The plots that Build, Compare and exports share: windows, goodput, queue, round trip time. */

import type { Run } from "../engine/protocol";
import { flowColor, flowDash } from "./colors";
import type { Panel } from "./svg";
import type { Line } from "./time_plot";
import { goodputTraces, queueTraces, windowTraces, type Traces } from "./traces";

function lines(run: Run, traces: Traces, factor: number): Line[] {
  return traces.flows.map((values, flow) => ({
    label: run.result.flows[flow]?.flow ?? "",
    color: flowColor(flow),
    dash: flowDash(flow),
    values: values.map((value) => (value === null ? null : value * factor)),
  }));
}

/** The link whose queue matters: the one with the highest utilization. */
export function bottleneckOf({ result }: Run) {
  const [first, ...others] = result.links;
  return others.reduce(
    (most, link) => (link.utilization > (most?.utilization ?? 0) ? link : most),
    first,
  );
}

/** Windows. */
export function windowPanel(run: Run): Panel {
  const traces = windowTraces(run, "cwnd_packets");
  return {
    title: "Congestion window",
    unit: "packets",
    timesS: traces.timesS,
    lines: lines(run, traces, 1),
  };
}

/** Goodput. */
export function goodputPanel(run: Run): Panel {
  const traces = goodputTraces(run);
  return {
    title: "Goodput",
    unit: "Mbit/s",
    timesS: traces.timesS,
    lines: lines(run, traces, 1e-6),
  };
}

/** The name of the bottleneck's queue, and its discipline. */
export function queueTitle(run: Run): string {
  const link = bottleneckOf(run);
  const isOnly = !link || link.link === "bottleneck";
  return `${isOnly ? "Bottleneck queue" : `Queue of ${link.link}`}${link ? ` (${link.queue})` : ""}`;
}

/** The queue of the bottleneck. */
export function queuePanel(run: Run): Panel {
  const link = bottleneckOf(run);
  const traces = queueTraces(run);
  const values = traces.flows[link ? run.result.links.indexOf(link) : 0] ?? [];
  const line = { label: "queue", color: flowColor(7), values };
  return {
    title: queueTitle(run),
    unit: "packets",
    timesS: traces.timesS,
    lines: [line],
  };
}

/** Round trip times. */
export function rttPanel(run: Run): Panel {
  const traces = windowTraces(run, "srtt_s");
  return {
    title: "Smoothed round trip time",
    unit: "ms",
    timesS: traces.timesS,
    lines: lines(run, traces, 1e3),
  };
}
