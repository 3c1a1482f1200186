/** The packet trace as transmissions: when each was sent, and what became of it. */

import type { Run } from "../engine/protocol";

/** One transmission of a data packet. Times in seconds; Infinity: not within the run. */
export interface Transmission {
  flow: number;
  number: number;
  isRetransmission: boolean;
  sentS: number;
  /** Window when it was sent, packets. */
  cwnd: number;
  /** When it reached the link that dropped it. */
  droppedS: number;
  receivedS: number;
  /** Whether a queue marked it with CE. */
  isMarked: boolean;
  /** When its ACK reached the sender. */
  ackedS: number;
  /** Cumulative acknowledgement and window then. */
  ackNumber: number;
  cwndAfter: number;
}

/** Values of `packets.event`, as `PacketEvent` in `crates/sim/src/measure/trace.rs`. */
enum Event {
  Send = 0,
  Receive = 1,
  Ack = 2,
  Drop = 3,
}

/** All transmissions, in order of sending. */
export function transmissionsOf({ columns }: Run): Transmission[] {
  const times = columns["packets.time_s"] as Float64Array;
  const events = columns["packets.event"] as Uint32Array;
  const flows = columns["packets.flow"] as Uint32Array;
  const numbers = columns["packets.number"] as Float64Array;
  const sent = columns["packets.sent_s"] as Float64Array;
  const windows = columns["packets.cwnd_packets"] as Float64Array;
  const flags = columns["packets.flags"] as Uint32Array;
  const all: Transmission[] = [];
  const data = new Map<string, Transmission>();
  /** Received packets of each flow that no ACK has answered yet, in order of arrival. */
  const waiting = new Map<number, Transmission[]>();
  for (let row = 0; row < times.length; row += 1) {
    const [flow, number] = [flows[row] as number, numbers[row] as number];
    const timeS = times[row] as number;
    const one = data.get(`${flow} ${sent[row]} ${number}`);
    switch (events[row] as Event) {
      case Event.Send: {
        const made: Transmission = {
          flow,
          number,
          isRetransmission: ((flags[row] as number) & 1) !== 0,
          sentS: timeS,
          cwnd: windows[row] as number,
          droppedS: Infinity,
          receivedS: Infinity,
          isMarked: false,
          ackedS: Infinity,
          ackNumber: NaN,
          cwndAfter: NaN,
        };
        all.push(made);
        data.set(`${flow} ${sent[row]} ${number}`, made);
        break;
      }
      case Event.Receive: {
        if (!one) break;
        one.receivedS = timeS;
        one.isMarked = ((flags[row] as number) & 2) !== 0;
        const earlier = waiting.get(flow);
        if (earlier) earlier.push(one);
        else waiting.set(flow, [one]);
        break;
      }
      case Event.Drop:
        if (one) one.droppedS = timeS;
        break;
      case Event.Ack: {
        const received = waiting.get(flow) ?? [];
        // The ACK echoes when the packet was sent that triggered it; packets of a burst share that
        // time. While a packet is missing it repeats an older echo (RFC 7323, section 4.3): the
        // receiver answers each packet at once, so the duplicate ACK is that of the oldest one.
        const echoed = received.findIndex(({ sentS }) => sentS === sent[row]);
        const [acked] = received.splice(Math.max(echoed, 0), 1);
        if (!acked) break;
        acked.ackedS = timeS;
        acked.ackNumber = number;
        acked.cwndAfter = windows[row] as number;
        // A delayed ACK covers packets that get none of their own.
        const isCovered = (other: Transmission) =>
          !other.isRetransmission && other.number <= number;
        if (received.some(isCovered))
          waiting.set(
            flow,
            received.filter((other) => !isCovered(other)),
          );
      }
    }
  }
  return all;
}

/** Index of the first transmission sent after a time. */
export function firstAfter(all: readonly Transmission[], timeS: number): number {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((all[middle] as Transmission).sentS <= timeS) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where a transmission is: along the path, 0 to 1 within its segment; null where it is not. */
export type Place =
  | { on: "access"; share: number }
  | { on: "link"; share: number; inService: boolean }
  | { on: "back"; share: number }
  | { on: "queue"; sinceS: number }
  | { on: "dropped"; sinceS: number };

/** The dumbbell's times that a packet takes without a queue, seconds. */
export interface PathTimes {
  /** One way from each flow's source to the queue. */
  accessS: number[];
  /** Propagation and transmission from the queue to the receiver. */
  linkS: number;
  /** Transmission alone: the packet is in service. */
  serviceS: number;
}

/** How long a dropped packet is shown, seconds, as a share of a round trip. */
export const DROP_SHOWN = 0.35;

/** Where a transmission is at a time. Entry to the queue and exit follow from what was recorded. */
export function placeOf(
  one: Transmission,
  timeS: number,
  { accessS, linkS, serviceS }: PathTimes,
): Place | null {
  if (timeS < one.sentS) return null;
  const access = accessS[one.flow] ?? 0;
  const enteredS = one.sentS + access;
  if (timeS < enteredS) return { on: "access", share: (timeS - one.sentS) / access };
  if (one.droppedS <= timeS) {
    const shownS = DROP_SHOWN * 2 * (access + linkS);
    return timeS - one.droppedS < shownS
      ? { on: "dropped", sinceS: (timeS - one.droppedS) / shownS }
      : null;
  }
  const leftS = Math.max(one.receivedS - linkS, enteredS);
  if (timeS < leftS) return { on: "queue", sinceS: enteredS };
  if (timeS < one.receivedS)
    return {
      on: "link",
      share: (timeS - leftS) / (one.receivedS - leftS),
      inService: timeS < leftS + serviceS,
    };
  if (timeS < one.ackedS && Number.isFinite(one.ackedS))
    return { on: "back", share: (timeS - one.receivedS) / (one.ackedS - one.receivedS) };
  return null;
}
