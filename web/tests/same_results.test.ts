/** The page's simulator and the command line's give the same results, to the last bit. */

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Progress } from "../src/engine/simulator";
import { missingNative, runNatively } from "./native";
import { randomScenario } from "./random_scenario";
import { simulator } from "./simulator";

const FOLDER = new URL("../../examples/", import.meta.url);
const read = (name: string) => readFileSync(new URL(name, FOLDER), "utf8");
const files = { "cellular.down": read("cellular.down") };
/** What `cwndlab run` runs in a browser, too: no sweeps, no rules in Python and no QUIC. */
const EXAMPLES = readdirSync(FOLDER).filter((name) =>
  /^(?!sweep-|custom-rule|quic-).*\.toml$/.test(name),
);

/** The result of the page's simulator, or what is wrong. */
function result(toml: string): Record<string, unknown> {
  let progress = simulator.start({ toml, files, samples: 100 });
  while (progress === Progress.Running) progress = simulator.advance(1 << 20);
  if (progress === Progress.Failed) return { error: simulator.message };
  return simulator.collect(true, 0).result;
}

/** Without what says when and by which program it was made, and without what the package adds: the
 * sums of each group of flows, and tables of connections where there are none. */
function comparable(result: Record<string, unknown>): Record<string, unknown> {
  const { schema, cwndlab_version, wall_s, packets_per_wall_s, groups, ...rest } = result;
  void [schema, cwndlab_version, wall_s, packets_per_wall_s, groups];
  for (const name of ["connections", "subflows"]) {
    if ((rest[name] as unknown[] | undefined)?.length === 0) delete rest[name];
  }
  return rest;
}

describe.skipIf(missingNative)(
  `beside the native simulator${missingNative && ` (${missingNative})`}`,
  () => {
    test("every example has the same result and trace hash", () => {
      expect(EXAMPLES.length).toBeGreaterThan(20);
      const native = runNatively(EXAMPLES.map(read));
      EXAMPLES.forEach((name, index) => {
        const here = result(read(name));
        expect(here.trace_hash, name).toMatch(/^[0-9a-f]{16}$/);
        expect(here, name).toEqual(comparable(native[index]!));
      });
    });

    test("fifty random scenarios have the same results", () => {
      const texts = Array.from({ length: 50 }, (_, seed) =>
        randomScenario(seed, simulator.description.rules),
      );
      const native = runNatively(texts);
      texts.forEach((text, seed) => {
        expect(native[seed]!.trace_hash, text).toMatch(/^[0-9a-f]{16}$/);
        expect(result(text), text).toEqual(comparable(native[seed]!));
      });
    });

    test("what is wrong is said alike", () => {
      const wrong = [
        "duration = 1",
        '[dumbbell]\nrate = "10ms"',
        'duration = "1s"\n[dumbbell]\nrate = "1Mbit"\ndelay = "1ms"\n[[flows]]\nrule = "AIMD(1, 2)"',
      ];
      const native = runNatively(wrong);
      wrong.forEach((text, index) => expect(result(text)).toEqual(native[index]));
    });
  },
);
