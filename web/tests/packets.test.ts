/** Packets as Look draws them: their number in the queue is the one that the simulator samples. */

import { expect, test } from "vitest";
import { placeOf, transmissionsOf } from "../src/plots/packets";
import { queueTraces } from "../src/plots/traces";
import { START } from "../src/state/examples";
import { run as runHere } from "./simulator";

/** Each packet has an ACK of its own. */
const RFC = `profile = "rfc"\n${START}`;

test("the drawn queue is the sampled one", () => {
  const run = runHere(RFC, 1200, { packets: true });
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

/** An ACK of up to 80 bytes takes so long to leave on 10 Mbit/s, two of them twice as long. */
const LATEST_S = (2 * 8 * 80) / 1e7;

test("each received packet has its ACK 25 ms later, also while an earlier one is missing", () => {
  const run = runHere(RFC, 1200, { packets: true });
  const all = transmissionsOf(run);
  const arrived = all.filter(({ receivedS }) => receivedS < 60 - 0.026);
  const latenesses = arrived.map((one) => Math.abs(one.ackedS - one.receivedS - 0.025));
  expect(Math.max(...latenesses)).toBeLessThan(LATEST_S);
  const duplicates = arrived.filter(({ ackNumber, number }) => ackNumber < number);
  expect(duplicates.length).toBeGreaterThan(1000);
  // None of these acknowledges a packet that was dropped and not repaired yet.
  const lost = all.find(({ droppedS }) => Number.isFinite(droppedS))!;
  const next = arrived.find(
    (one) => one.flow === lost.flow && one.receivedS > lost.droppedS + 0.1,
  )!;
  expect(next.ackNumber).toBeLessThan(lost.number);
});

test("with delayed ACKs nearly every duplicate ACK is its packet's, or that of a neighbour", () => {
  const run = runHere(`${RFC}\n[tcp]\ndelayed_ack = true\n`, 1200, { packets: true });
  const arrived = transmissionsOf(run).filter(({ receivedS }) => receivedS < 59.5);
  const duplicates = arrived.filter(({ ackNumber, number }) => ackNumber < number);
  expect(duplicates.length).toBeGreaterThan(1000);
  // The ACK that the first packet after a gap triggers echoes the packet that was held before it.
  const packetS = (8 * run.wireBytes[0]!) / 1e7;
  const late = duplicates.filter((one) => one.ackedS - one.receivedS - 0.025 > packetS + LATEST_S);
  expect(late.length / duplicates.length).toBeLessThan(0.01);
  // About half of the others have no ACK of their own.
  const share = arrived.filter(({ ackedS }) => ackedS === Infinity).length / arrived.length;
  expect(share).toBeGreaterThan(0.4);
});
