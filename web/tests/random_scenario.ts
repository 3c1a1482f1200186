/** Random scenarios, equal for equal seeds: every rule, queue, recovery, kind of loss and of traffic. */

import type { RuleFamily } from "../src/engine/protocol";

/** Numbers from 0 to 1 (mulberry32). */
function stream(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function randomScenario(seed: number, rules: readonly RuleFamily[]): string {
  const next = stream(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)] as T;
  const whole = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  const some = (text: () => string) => (next() < 0.4 ? text() + "\n" : "");
  const rate = whole(1, 40);
  const ecn = next() < 0.4;
  const kind = pick(["drop-tail", "red", "codel", "fq-codel", "pie", "step", "drr"]);
  const marks = ecn && /red|codel|pie/.test(kind) ? ", ecn = true" : "";
  const rates = [
    `"${rate}Mbit"`,
    `{ kind = "square", high = "${rate + 2}Mbit", low = "${rate / 2}Mbit", every = "700ms" }`,
    `{ kind = "saw-tooth", low = "${rate / 3}Mbit", high = "${rate}Mbit", period = "2s" }`,
    `{ kind = "walk", start = "${rate}Mbit", spread = "1Mbit", every = "300ms", min = "500kbit", max = "${rate * 2}Mbit" }`,
  ];
  const groups = Array.from({ length: whole(1, 4) }, (_, number) =>
    [
      `[[flows]]\nname = "g${number}"\ncount = ${whole(1, 4)}`,
      `rule = '${pick(rules).example}'`,
      `recovery = "${pick(["tahoe", "reno", "newreno", "sack", "fack"])}"`,
      `start = ["0s", "${whole(0, 2)}s"]\naccess_delay = ["0ms", "${whole(1, 30)}ms"]`,
      some(() => `packets = ${whole(50, 3000)}`),
    ].join("\n"),
  );
  return [
    `name = "random-${seed}"\nduration = "${whole(3, 9)}s"\nmeasure = ["1s", "3s"]\nseed = ${whole(1, 1e6)}`,
    ecn ? "[tcp]\necn = true" : "",
    `[dumbbell]\nrate = ${pick(rates)}\ndelay = "${whole(1, 60)}ms"`,
    `queue = { kind = "${kind}", limit = "${pick(["0.3bdp", "1bdp", "3bdp", "40pkt"])}"${marks} }`,
    some(() => `loss = [{ kind = "bernoulli", p = ${(next() * 0.03).toFixed(4)} }]`),
    some(() => `jitter = { kind = "uniform", high = "${whole(1, 9)}ms" }`),
    ...groups,
    some(() => `[[cross]]\nname = "cbr"\nrate = "${(rate / 4).toFixed(2)}Mbit"`),
    some(
      () =>
        `[[arrivals]]\nname = "web"\nrule = "CUBIC"\ngap = "${whole(50, 400)}ms"\nsize = { kind = "pareto", mean = 12, shape = 1.3, most = 500 }`,
    ),
  ].join("\n");
}
