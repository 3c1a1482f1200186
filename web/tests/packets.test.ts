/** Packets as Look draws them: their number in the queue is the one that the simulator samples. */

import { expect, test } from "vitest";
import { placeOf, transmissionsOf } from "../src/plots/packets";
import { queueTraces } from "../src/plots/traces";
import { START } from "../src/state/examples";
import { run as runHere } from "./simulator";

test("the drawn queue is the sampled one", () => {
  const run = runHere(START, 1200, true);
  const all = transmissionsOf(run);
  const { timesS, flows } = queueTraces(run);
  const serviceS = (8 * run.wireBytes[0]!) / 1e7;
  const times = { accessS: [0, 0], linkS: 0.025 + serviceS, serviceS };
  const bad = [];
  for (let sample = 5; sample < timesS.length; sample += 7) {
    const timeS = timesS[sample]!;
    const drawn = all.filter((one) => {
      const place = placeOf(one, timeS, times);
      return place?.on === "queue" || (place?.on === "link" && place.inService);
    });
    if (drawn.length !== flows[0]![sample]) bad.push([timeS, drawn.length, flows[0]![sample]]);
  }
  expect(Math.max(...flows[0]!.map(Number))).toBeGreaterThan(50);
  expect(bad).toEqual([]);
});
