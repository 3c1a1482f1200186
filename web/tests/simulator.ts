/** The page's module in Node, without a page. */

import { readFile } from "node:fs/promises";
import { Progress, Simulator } from "../src/engine/simulator";
import type { Run, RunOptions } from "../src/engine/protocol";

const bytes = await readFile(new URL("../public/simulator.wasm", import.meta.url));
export const simulator = await Simulator.of(new Uint8Array(bytes));

/** The whole run of a scenario. */
export function run(toml: string, samples: number, options: Partial<RunOptions> = {}): Run {
  if (simulator.start({ toml, samples, ...options }) === Progress.Failed)
    throw new Error(simulator.message);
  while (simulator.advance(1 << 30) === Progress.Running);
  return simulator.collect(true, 0);
}
