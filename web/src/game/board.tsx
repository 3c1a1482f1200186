/** A game on the screen: windows and queue so far, goodputs, and at the end the score. */

import { useEffect, useState } from "preact/hooks";
import { engine } from "../engine/client";
import type { RunResult } from "../engine/protocol";
import type { Shown } from "../lessons/use_run";
import { flowColor } from "../plots/colors";
import { TimePlot } from "../plots/time_plot";
import { queueTraces, windowTraces } from "../plots/traces";
import { baselineScenario, DURATION_S, gameScenario, type Game } from "./game";
import { ScoreCard } from "./score_card";

/** Samples of windows and queue per second of simulated time. */
const SAMPLES_PER_S = 20;

interface BoardProps {
  game: Game;
  /** Time that was played, seconds. */
  untilS?: number;
  isOver?: boolean;
}

/** Runs the game up to a time, whenever the time has moved on. */
function useGameRun(game: Game, untilS: number): Shown {
  const [shown, setShown] = useState<Shown>({ run: null, error: null });
  const shownUntilS = Math.ceil(untilS * 10) / 10;
  useEffect(() => {
    if (shownUntilS <= 0) return;
    let isCurrent = true;
    const options = {
      toml: gameScenario(game, shownUntilS),
      samples: Math.round(shownUntilS * SAMPLES_PER_S),
    };
    engine.run("game", options).then(
      (run) => isCurrent && run && setShown({ run, error: null }),
      (error: Error) => isCurrent && setShown({ run: null, error: error.message }),
    );
    return () => void (isCurrent = shownUntilS < DURATION_S);
  }, [shownUntilS]);
  return shown;
}

/** The result of two flows of the opponent's rule, to compare with. */
function useBaseline(game: Game): RunResult | null {
  const [result, setResult] = useState<RunResult | null>(null);
  useEffect(() => {
    const options = { toml: baselineScenario(game), samples: 1 };
    // Where the simulator does not load, the game's run says so.
    engine.run("baseline", options).then(
      (run) => run && setResult(run.result),
      () => undefined,
    );
  }, [game.opponent]);
  return result;
}

function Numbers({ result }: { result: RunResult }) {
  const [you, opponent] = result.flows;
  const rows = [
    ["Your goodput", `${((you?.goodput_bps ?? 0) / 1e6).toFixed(2)} Mbit/s`],
    [`Goodput of ${opponent?.rule}`, `${((opponent?.goodput_bps ?? 0) / 1e6).toFixed(2)} Mbit/s`],
    ["Your mean RTT", you?.mean_rtt_s ? `${(you.mean_rtt_s * 1e3).toFixed(0)} ms` : "–"],
    ["Your losses", `${you?.dropped_packets ?? 0}`],
  ];
  return (
    <dl class="figures">
      {rows.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Board({ game, untilS = DURATION_S, isOver = false }: BoardProps) {
  const { run, error } = useGameRun(game, untilS);
  const baseline = useBaseline(game);
  if (error) return <p role="alert">{error}</p>;
  if (!run) return <p>Starting …</p>;
  const isWhole = isOver && run.complete && run.result.duration_s === DURATION_S;
  const windows = windowTraces(run, "cwnd_packets");
  const queue = queueTraces(run);
  const most = run.result.links[0]?.limit_packets ?? 0;
  const names = ["you", game.opponent];
  return (
    <>
      <Numbers result={run.result} />
      <div role="status">
        {isWhole && baseline && <ScoreCard {...{ game, baseline }} result={run.result} />}
      </div>
      <ul class="legend flows">
        {names.map((name, flow) => (
          <li>
            <span class="swatch" style={{ background: flowColor(flow) }} />
            {name}
          </li>
        ))}
      </ul>
      <TimePlot
        title="Congestion window"
        unit="packets"
        height={230}
        durationS={DURATION_S}
        timesS={windows.timesS}
        most={40}
        lines={windows.flows.map((values, flow) => ({
          label: names[flow] ?? "",
          color: flowColor(flow),
          width: 2,
          values,
        }))}
      />
      <TimePlot
        title="Bottleneck queue"
        unit={`packets, ${most} when full`}
        durationS={DURATION_S}
        timesS={queue.timesS}
        most={most}
        lines={[{ label: "queue", color: flowColor(7), values: queue.flows[0] ?? [] }]}
      />
    </>
  );
}
