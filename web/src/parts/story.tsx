/** What happened to one packet, in the order of time. */

import type { Run } from "../engine/protocol";
import type { PathTimes, Transmission } from "../plots/packets";
import { figure } from "./summary";

const at = (seconds: number) => `${seconds.toFixed(4)} s`;

/** Sentences of a packet's story: time and event. */
export function storyOf(
  one: Transmission,
  { accessS, linkS }: PathTimes,
): [time: string, event: string][] {
  const enteredS = one.sentS + (accessS[one.flow] ?? 0);
  const story: [string, string][] = [
    [
      at(one.sentS),
      `${one.isRetransmission ? "retransmitted" : "sent"} with a window of ${figure(one.cwnd)} packets`,
    ],
  ];
  if (Number.isFinite(one.droppedS))
    return [...story, [at(one.droppedS), "reached the bottleneck and was dropped"]];
  if (!Number.isFinite(one.receivedS)) return [...story, ["", "in flight when the run ended"]];
  const waitedS = Math.max(one.receivedS - linkS - enteredS, 0);
  story.push([
    at(enteredS),
    `reached the queue${waitedS < 1e-6 ? ", which was empty" : `, waited ${figure(waitedS, 1e3)} ms`}${one.isMarked ? "; marked with CE" : ""}`,
  ]);
  story.push([at(one.receivedS), "received"]);
  if (!Number.isFinite(one.ackedS))
    return [...story, ["", "no ACK of its own: that of another covers it, or the run ended first"]];
  const change = one.cwndAfter - one.cwnd;
  const window = `the window was ${figure(one.cwndAfter)} packets then (${change >= 0 ? "+" : "−"}${figure(Math.abs(change))})`;
  const kind =
    one.ackNumber < one.number
      ? `duplicate ACK: all up to packet ${one.ackNumber} arrived`
      : `acknowledged up to ${one.ackNumber}`;
  return [...story, [at(one.ackedS), `${kind}; ${window}`]];
}

export function Story({
  run,
  one,
  times,
}: {
  run: Run;
  one: Transmission | null;
  times: PathTimes;
}) {
  if (!one) return <p class="aside">Click a packet, or step to one, to see what happened to it.</p>;
  return (
    <div class="story" aria-live="polite">
      <h3>
        Packet {one.number} of {run.result.flows[one.flow]?.flow}
      </h3>
      <ol>
        {storyOf(one, times).map(([time, event]) => (
          <li key={event}>
            <time>{time}</time> {event}
          </li>
        ))}
      </ol>
    </div>
  );
}
