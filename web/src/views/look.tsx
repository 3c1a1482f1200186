/** Look: one run in detail, from windows down to single packets. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Run } from "../engine/protocol";
import { Choice } from "../parts/choice";
import { Player } from "../parts/player";
import { Story } from "../parts/story";
import { Legend } from "../parts/summary";
import { flowColor } from "../plots/colors";
import { playedS, range } from "../plots/cursor";
import { bottleneckOf, queueTitle } from "../plots/panels";
import { PacketPath } from "../plots/packet_path";
import { transmissionsOf, type PathTimes, type Transmission } from "../plots/packets";
import { PhaseLegend } from "../plots/phase_legend";
import { PhasePlane } from "../plots/phase_plane";
import { bandsOf, drawBands, drawLosses } from "../plots/phases";
import { TimePlot } from "../plots/time_plot";
import { goodputTraces, queueTraces, windowTraces } from "../plots/traces";
import { at } from "../state/document";
import { playing, seek } from "../state/player";
import { parseTime } from "../state/quantities";
import { packets, run, samples, stale } from "../state/runs";
import { scenario } from "../state/scenario";

/** Packets beyond which their traces are not recorded: a click then takes too long. */
const MOST_PACKETS = 300_000;
/** Flows that have a panel of their own at first. */
const PANELS = 2;

function FlowPanel({ shown, flow }: { shown: Run; flow: number }) {
  const traces = useMemo(
    () =>
      (["cwnd_packets", "ssthresh_packets", "outstanding_packets"] as const).map((name) =>
        windowTraces(shown, name),
      ),
    [shown],
  );
  const [cwnd, ssthresh, outstanding] = traces.map((trace) => trace.flows[flow] ?? []) as [
    number[],
    number[],
    number[],
  ];
  const bands = useMemo(() => {
    // Before its start a flow is in no phase.
    const beginS = traces[0]?.timesS[cwnd.findIndex((value) => value !== null)] ?? 0;
    return bandsOf(shown, flow).map((band) => ({ ...band, fromS: Math.max(band.fromS, beginS) }));
  }, [shown, flow]);
  const highest = Math.max(...cwnd.map(Number), 1);
  const color = flowColor(flow);
  return (
    <TimePlot
      title={`Windows of ${shown.result.flows[flow]?.flow}`}
      unit="packets"
      durationS={shown.result.duration_s}
      timesS={traces[0]?.timesS ?? []}
      height={170}
      top={highest}
      showsTime={false}
      lines={[
        { label: "outstanding", color, dash: [1, 3], width: 1, values: outstanding },
        // The first ssthresh is as good as infinite: it stays outside the plot.
        {
          label: "ssthresh",
          color,
          dash: [6, 4],
          width: 1,
          values: ssthresh.map((value) => (value > highest * 1.5 ? null : value)),
        },
        { label: "cwnd", color, width: 2, values: cwnd },
      ]}
      under={(plot) => drawBands(plot, shown, bands)}
      over={(plot) => drawLosses(plot, shown, flow)}
      pick={seek}
    />
  );
}

function QueuePlots({ shown }: { shown: Run }) {
  const durationS = shown.result.duration_s;
  const link = bottleneckOf(shown);
  const number = link ? shown.result.links.indexOf(link) : 0;
  const queues = useMemo(() => queueTraces(shown), [shown]);
  const rtts = useMemo(() => windowTraces(shown, "srtt_s"), [shown]);
  const shares = useMemo(() => goodputTraces(shown), [shown]);
  const totals = shares.timesS.map((_, bin) =>
    shares.flows.reduce((sum, flow) => sum + (flow[bin] ?? 0), 0),
  );
  const lines = (flows: (number | null)[][], scale: (value: number, index: number) => number) =>
    flows.map((values, flow) => ({
      label: shown.result.flows[flow]?.flow ?? "",
      color: flowColor(flow),
      values: values.map((value, index) => (value === null ? null : scale(value, index))),
    }));
  return (
    <>
      <TimePlot
        title={queueTitle(shown)}
        unit="packets, waiting and in service"
        {...{ durationS }}
        pick={seek}
        height={110}
        showsTime={false}
        timesS={queues.timesS}
        most={link?.limit_packets ?? 0}
        lines={[{ label: "queue", color: flowColor(7), values: queues.flows[number] ?? [] }]}
      />
      <TimePlot
        title="Smoothed round trip time"
        unit="ms"
        {...{ durationS }}
        pick={seek}
        height={110}
        showsTime={false}
        timesS={rtts.timesS}
        lines={lines(rtts.flows, (value) => value * 1e3)}
      />
      <TimePlot
        title="Shares of the goodput"
        unit="%"
        {...{ durationS }}
        pick={seek}
        height={130}
        most={100}
        timesS={shares.timesS}
        lines={lines(shares.flows, (value, bin) =>
          totals[bin] ? (100 * value) / totals[bin]! : 0,
        )}
      />
    </>
  );
}

/** Times of a dumbbell's path without queue; null for other networks. */
function pathTimes(shown: Run): PathTimes | null {
  const delayS = parseTime(at(scenario.value, ["dumbbell", "delay"]));
  const sinkS = parseTime(at(scenario.value, ["dumbbell", "sink_delay"]) ?? 0);
  const link = shown.result.links[0];
  if (delayS === null || sinkS === null || !link) return null;
  const serviceS = (8 * (shown.wireBytes[0] ?? 0)) / link.rate_bps;
  return {
    accessS: shown.result.flows.map((flow) => Math.max(flow.base_rtt_s / 2 - delayS - sinkS, 0)),
    linkS: delayS + sinkS + serviceS,
    serviceS,
  };
}

function Packets({ shown }: { shown: Run }) {
  const [chosen, choose] = useState<Transmission | null>(null);
  const all = useMemo(() => transmissionsOf(shown), [shown]);
  const times = pathTimes(shown);
  // Another run has other packets.
  useEffect(() => choose(null), [all]);
  if (!times)
    return (
      <p class="aside">
        Packets are drawn along the path of a dumbbell; this scenario has other links.
      </p>
    );
  if (!all.length)
    return (
      <p class="aside">
        This run has too many packets to draw each: shorten it, or lower the rate.
      </p>
    );
  return (
    <section aria-label="Packets">
      <PacketPath run={shown} timeS={playedS.value ?? 0} {...{ all, times, chosen, choose }} />
      <Player
        endS={shown.simulatedS}
        rttS={shown.result.flows[0]?.base_rtt_s ?? 0.1}
        {...{ all, choose }}
      />
      <Story run={shown} one={chosen} times={times} />
    </section>
  );
}

export function Look() {
  const [pair, setPair] = useState<[number, number]>([0, 1]);
  const [only, setOnly] = useState<number | null>(null);
  useEffect(() => {
    samples.value = 4000;
    return () => {
      samples.value = 1200;
      packets.value = false;
      playedS.value = null;
      playing.value = false;
    };
  }, []);
  const shown = run.value;
  const sent =
    shown?.result.flows.reduce((sum, flow) => sum + Number(flow.total_sent_packets), 0) ?? Infinity;
  // Packets are recorded once a run has shown that they are few enough.
  useEffect(() => {
    if (shown?.complete) packets.value = sent < MOST_PACKETS;
  }, [shown]);
  if (!shown) return <main />;
  const flows = shown.result.flows;
  const panels = only === null ? flows.map((_, flow) => flow).slice(0, PANELS) : [only];
  const names = flows.map((flow, number) => [String(number), flow.flow] as const);
  return (
    <main class={stale.value ? "look stale" : "look"}>
      <Packets shown={shown} />
      <div class="columns">
        <div class="plots">
          <div class="bar">
            {flows.length > PANELS && (
              <Choice
                label="Flows shown"
                value={only === null ? "" : String(only)}
                options={[["", `the first ${PANELS}`], ...names]}
                set={(value) => setOnly(value === "" ? null : Number(value))}
              />
            )}
            <PhaseLegend run={shown} />
            <p class="aside">
              Solid: cwnd, dashed: ssthresh, dotted: outstanding, which leaves the plot during
              recovery: it includes packets that arrived after a lost one.
            </p>
            <p class="aside">
              Click a plot to move the time, drag to zoom, double-click for all.{" "}
              {range.value && (
                <button type="button" onClick={() => (range.value = null)}>
                  Show all of it
                </button>
              )}
            </p>
          </div>
          {panels.map((flow) => (
            <FlowPanel key={flow} {...{ shown, flow }} />
          ))}
          <QueuePlots shown={shown} />
          <Legend run={shown} />
        </div>
        {flows.length > 1 && (
          <aside>
            <PhasePlane run={shown} flows={pair} />
            {flows.length > 2 && (
              <>
                <Choice
                  label="Across"
                  value={String(pair[0])}
                  options={names}
                  set={(value) => setPair([Number(value), pair[1]])}
                />
                <Choice
                  label="Up"
                  value={String(pair[1])}
                  options={names}
                  set={(value) => setPair([pair[0], Number(value)])}
                />
              </>
            )}
          </aside>
        )}
      </div>
    </main>
  );
}
