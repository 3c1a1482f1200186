/** A game is a list of inputs: it travels in a link, and its score is the simulator's. */

import { expect, test } from "vitest";
import {
  baselineScenario,
  DURATION_S,
  gameOfQuery,
  gameQuery,
  gameScenario,
  newGame,
  OPPONENTS,
  score,
  steer,
  type Game,
} from "../src/game/game";
import { run as simulate } from "./simulator";

const run = (toml: string) => simulate(toml, 100);
const steady = (packets: number, opponent = "NewReno") => steer(newGame(opponent), 0, packets);

/** A game that changes cwnd every half second. */
function restless(): Game {
  let game = newGame("CUBIC");
  for (let atS = 0.5; atS < DURATION_S; atS += 0.5) game = steer(game, atS, 10 + ((atS * 14) % 20));
  return game;
}

test("a link brings the same game, with the same trace hash", () => {
  const game = restless();
  const arrived = gameOfQuery(new URLSearchParams(gameQuery(game)));
  expect(arrived).toEqual(game);
  const hashes = [game, arrived as Game].map((one) => run(gameScenario(one)).result.trace_hash);
  expect(hashes[0]).toBe(hashes[1]);
  expect(run(gameScenario(steady(15, "CUBIC"))).result.trace_hash).not.toBe(hashes[0]);
});

test.each([
  "",
  "against=CUBIC",
  "against=Nobody&inputs=10@0",
  "against=CUBIC&inputs=10@1",
  "against=CUBIC&inputs=x@0",
])("no game is %s", (query) => expect(gameOfQuery(new URLSearchParams(query))).toBeNull());

test("what is shown while a game goes on is the first part of the whole game", () => {
  const game = restless();
  const [part, whole] = [run(gameScenario(game, 12)), run(gameScenario(game))];
  const windowsAt = ({ columns }: typeof whole, timeS: number) => {
    const times = columns["windows.time_s"] as Float64Array;
    const windows = columns["windows.cwnd_packets"] as Float64Array;
    return [...windows].filter((_, row) => Math.abs((times[row] as number) - timeS) < 1e-9);
  };
  // Samples every 0.12 s and every 0.3 s: the times that both have.
  for (const timeS of [3, 6, 9]) expect(windowsAt(part, timeS)).toEqual(windowsAt(whole, timeS));
  expect(windowsAt(part, 6).length).toBe(2);
});

test("the opponent's rule has a fair share of points, a greedy game none, and a steady one many", () => {
  const baseline = run(baselineScenario(newGame("NewReno"))).result;
  const points = (packets: number) => score(run(gameScenario(steady(packets))).result, baseline);
  expect(points(60).unharmed).toBeLessThan(0.2);
  expect(points(60).goodput).toBe(1);
  expect(points(5).unharmed).toBe(1);
  expect(points(5).goodput).toBeLessThan(0.5);
  expect(points(15).points).toBeGreaterThan(Math.max(points(5).points, points(60).points) + 20);
});

test("every opponent can be played", () => {
  for (const opponent of OPPONENTS) {
    const { result } = run(gameScenario(steady(15, opponent)));
    expect(result.flows.map(({ rule }) => rule.replace(/\(.*/, ""))).toEqual([
      "steered:15@0",
      opponent,
    ]);
  }
});
