/** The simulator as the command line has it, through the Python package of this checkout. */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const PYTHON = path("../../.venv/bin/python");

/** Why there is no native simulator here; empty where there is one. */
export const missingNative = existsSync(PYTHON) ? "" : "no .venv: run make setup";

function answers(texts: string[], ...wanted: string[]): Record<string, unknown>[] {
  const done = spawnSync(PYTHON, [path("native.py"), path("../../examples"), ...wanted], {
    input: JSON.stringify(texts),
    maxBuffer: 1 << 30,
    encoding: "utf8",
  });
  if (done.status !== 0) throw new Error(done.stderr);
  return JSON.parse(done.stdout) as Record<string, unknown>[];
}

/** Results of scenarios, as `cwndlab run --json` prints them, or what is wrong with them. */
export const runNatively = (texts: string[]) => answers(texts);

/** Why one of two groups of flows of each scenario got more, as `cwndlab explain` says it. */
export const explainNatively = (texts: string[]) => answers(texts, "explain");
