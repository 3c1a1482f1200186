/** The page says what `cwndlab explain` says, word for word. */

import { describe, expect, test } from "vitest";
import { explainNatively, missingNative } from "./native";
import { run, simulator } from "./simulator";

const flow = (name: string, rest: string) => `[[flows]]\nname = "${name}"\n${rest}\n`;
const LINK = `duration = "20s"\n[dumbbell]\nrate = "20Mbit"\ndelay = "20ms"\n`;
/** Causes of several kinds: a window, a late start, rules, a path, packets of two sizes. */
const SCENARIOS = [
  ['rule = "NewReno"\ntcp = { window = 20 }', 'rule = "NewReno"\ntcp = { window = 10 }'],
  ['rule = "NewReno"', 'rule = "NewReno"\nstart = "15s"'],
  ['rule = "CUBIC"', 'rule = "Vegas"'],
  ['rule = "BBR3"', 'rule = "AIMD(1, 0.5)"\ncount = 2'],
  ['rule = "CUBIC"', 'rule = "CUBIC"\naccess_delay = "60ms"'],
  ['rule = "NewReno"', 'rule = "NewReno"\ntcp = { packet_size = 500 }'],
].map(([a = "", b = ""]) => LINK + flow("a", a) + flow("b", b));

/** Explains `a` against `b`. */
function explain(toml: string) {
  const { accounts = [] } = run(toml, 10, { account: true }).result;
  const of = (name: string) => accounts.filter(({ group }) => group === name);
  return simulator.explain({ names: ["a", "b"], accounts: [of("a"), of("b")] });
}

test("causes and edges add up to the difference, in the order of their size", () => {
  for (const toml of SCENARIOS) {
    const { causes, goodput_bps } = explain(toml);
    const { difference, edges } = goodput_bps;
    const sum = causes.reduce((sum, { bps }) => sum + bps, edges);
    expect(sum, toml).toBeCloseTo(difference, 3);
    const signed = causes.map(({ bps }) => Math.sign(difference) * bps);
    expect(signed).toEqual([...signed].sort((one, other) => other - one));
    expect(causes.every(({ reason }) => reason)).toBe(true);
  }
});

test("a run without accounts has none, and the same packets", () => {
  const [toml = ""] = SCENARIOS;
  const [without, kept] = [run(toml, 10), run(toml, 10, { account: true })];
  expect(without.result.accounts).toBeUndefined();
  expect(kept.result.accounts).toHaveLength(2);
  expect(kept.result.trace_hash).toBe(without.result.trace_hash);
});

describe.skipIf(missingNative)(
  `beside the native simulator${missingNative && ` (${missingNative})`}`,
  () => {
    test("sentences are those of the command line", () => {
      const native = explainNatively(SCENARIOS);
      SCENARIOS.forEach((toml, index) => {
        const { headline, causes } = explain(toml);
        expect({ headline, causes }, toml).toEqual(native[index]);
      });
    });
  },
);
