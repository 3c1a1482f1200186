/** "You are the rule": a game is a list of inputs, and so a scenario that anybody can run again. */

import type { RunResult } from "../engine/protocol";

/** cwnd from a time on. */
export interface Input {
  fromS: number;
  packets: number;
}

export interface Game {
  /** Rule of the other flow. */
  opponent: string;
  /** In order of time; the first is at 0. */
  inputs: Input[];
}

/** How long a game lasts, seconds of simulated time. */
export const DURATION_S = 30;

/** cwnd at the start, packets. */
export const FIRST_WINDOW = 10;

/** Rules to play against. */
export const OPPONENTS = ["NewReno", "CUBIC", "BBR1", "BBR3", "Vegas"];

/** A game before its first key. */
export function newGame(opponent: string): Game {
  return { opponent, inputs: [{ fromS: 0, packets: FIRST_WINDOW }] };
}

/** The game with cwnd set from a time on, which is rounded to a hundredth of a second. */
export function steer(game: Game, atS: number, packets: number): Game {
  const fromS = Math.round(atS * 100) / 100;
  const inputs = game.inputs.filter((input) => input.fromS < fromS || input.fromS === 0);
  const input = { fromS, packets: Math.max(1, packets) };
  if (fromS === 0) return { ...game, inputs: [input] };
  return { ...game, inputs: [...inputs, input] };
}

/** cwnd that the last input has set, packets. */
export function steeredWindow({ inputs }: Game): number {
  return inputs[inputs.length - 1]?.packets ?? FIRST_WINDOW;
}

function notation({ inputs }: Game): string {
  return inputs.map(({ fromS, packets }) => `${packets}@${fromS}`).join(" ");
}

function scenario(opponent: string, rule: string, durationS: number): string {
  return `# You are the rule: a flow whose cwnd a person steers, beside ${opponent}.
name = "you-are-the-rule"
duration = "${durationS}s"
profile = "linux"

[dumbbell]
rate = "5Mbit"
delay = "25ms"
queue = { kind = "drop-tail", limit = "1bdp" }

[[flows]]
name = "you"
rule = "${rule}"

[[flows]]
name = "opponent"
rule = "${opponent}"
`;
}

/** The scenario of a game up to a time: a run of it is the first part of the whole game's. */
export function gameScenario(game: Game, untilS = DURATION_S): string {
  return scenario(game.opponent, `steered:${notation(game)}`, untilS);
}

/** The scenario to compare with: another flow of the opponent's rule in your place. */
export function baselineScenario({ opponent }: Game): string {
  return scenario(opponent, opponent, DURATION_S);
}

/** What a game is worth; each part is between 0 and 1. */
export interface Score {
  /** Your goodput over a fair share: that of a flow beside another of its kind. */
  goodput: number;
  /** RTT without queues over your mean RTT. */
  delay: number;
  /** 1 - harm: goodput of the opponent beside you over that fair share. */
  unharmed: number;
  /** 100 times the product of the three. */
  points: number;
}

/** The score of the first flow of a result. */
export function score(result: RunResult, baseline: RunResult): Score {
  const [you, opponent] = result.flows;
  if (!you || !opponent) throw new Error("a game has two flows");
  const fairBps = baseline.aggregate_goodput_bps / baseline.flows.length;
  const share = (value: number, whole: number) => Math.min(1, value / whole);
  const goodput = share(you.goodput_bps, fairBps);
  const delay = you.mean_rtt_s ? share(you.base_rtt_s, you.mean_rtt_s) : 0;
  const unharmed = share(opponent.goodput_bps, fairBps);
  return { goodput, delay, unharmed, points: Math.round(100 * goodput * delay * unharmed) };
}

/** A game as the query of an address: `against=CUBIC&inputs=10@0_12@1.5`. */
export function gameQuery(game: Game): string {
  const inputs = notation(game).replaceAll(" ", "_");
  return `against=${encodeURIComponent(game.opponent)}&inputs=${inputs}`;
}

/** The game of such a query; null where it holds none. Whether it is valid the simulator says. */
export function gameOfQuery(query: URLSearchParams): Game | null {
  const [opponent, text] = [query.get("against"), query.get("inputs")];
  if (!opponent || !text || !OPPONENTS.includes(opponent)) return null;
  const inputs = text.split("_").map((input) => {
    const [packets, fromS] = input.split("@").map(Number);
    return { packets: packets ?? NaN, fromS: fromS ?? NaN };
  });
  const isValid = inputs.every(({ packets, fromS }) => packets >= 1 && fromS >= 0);
  return isValid && inputs[0]?.fromS === 0 ? { opponent, inputs } : null;
}
