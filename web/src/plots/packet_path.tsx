/** The packets of a dumbbell along their path at the time of the cursor. */

import { useEffect, useRef } from "preact/hooks";
import type { Run } from "../engine/protocol";
import { theme } from "../state/theme";
import { cssColor, flowColor } from "./colors";
import { firstAfter, placeOf, type PathTimes, type Transmission } from "./packets";

const HEIGHT = 150;
/** Parts of the path in shares of the width: sources, queue, link, receivers. */
const X = { source: 0.06, queue: 0.24, link: 0.5, receiver: 0.95 };
const Y = { data: 62, acks: 122 };

interface Drawn {
  x: number;
  y: number;
  of: Transmission;
}

/** What is drawn at a time: each packet with its place on the canvas, and the queue in its order. */
function place(
  all: readonly Transmission[],
  times: PathTimes,
  timeS: number,
  width: number,
  limit: number,
) {
  const longestS = Math.max(...times.accessS) + times.linkS;
  const rtt = 2 * longestS;
  // A queue may hold a packet long after it was sent; one beyond these is not drawn.
  const first = firstAfter(all, timeS - rtt - 5);
  const drawn: Drawn[] = [];
  const queue: Transmission[] = [];
  const dropped: Drawn[] = [];
  let inService = 0;
  const across = (from: number, to: number, share: number) => (from + (to - from) * share) * width;
  for (let index = first; index < all.length; index += 1) {
    const of = all[index] as Transmission;
    if (of.sentS > timeS) break;
    const found = placeOf(of, timeS, times);
    if (!found) continue;
    const lane = Y.data - 8 + (of.flow % 5) * 4;
    if (found.on === "queue") queue.push(of);
    else if (found.on === "access")
      drawn.push({ x: across(X.source, X.queue, found.share), y: lane, of });
    else if (found.on === "link") {
      drawn.push({ x: across(X.link, X.receiver, found.share), y: Y.data, of });
      if (found.inService) inService += 1;
    } else if (found.on === "back")
      drawn.push({ x: across(X.receiver, X.source, found.share), y: Y.acks, of });
    else if (found.on === "dropped")
      dropped.push({ x: X.queue * width, y: Y.data + 14 + found.sinceS * 34, of });
  }
  const entered = (one: Transmission) => one.sentS + (times.accessS[one.flow] ?? 0);
  queue.sort((one, other) => entered(one) - entered(other));
  const slot = ((X.link - X.queue) * width - 12) / Math.max(limit, queue.length, 1);
  queue.forEach((of, ahead) =>
    drawn.push({ x: X.link * width - 6 - (ahead + 0.5) * slot, y: Y.data, of }),
  );
  return { drawn, dropped, queued: queue.length, inService, slot };
}

function draw(
  context: CanvasRenderingContext2D,
  width: number,
  { limit, discipline }: { limit: number; discipline: string },
  shown: ReturnType<typeof place>,
  chosen: Transmission | null,
) {
  const ink = {
    muted: cssColor("muted"),
    rule: cssColor("rule"),
    text: cssColor("ink"),
    bad: cssColor("bad"),
  };
  context.clearRect(0, 0, width, HEIGHT);
  context.font = "12px system-ui, sans-serif";
  context.strokeStyle = ink.rule;
  context.lineWidth = 1;
  context.beginPath();
  for (const [from, to, y] of [
    [X.source, X.queue, Y.data],
    [X.link, X.receiver, Y.data],
    [X.source, X.receiver, Y.acks],
  ] as const) {
    context.moveTo(from * width, y);
    context.lineTo(to * width, y);
  }
  context.stroke();
  context.strokeStyle = ink.muted;
  context.strokeRect(X.queue * width, Y.data - 14, (X.link - X.queue) * width, 28);
  context.fillStyle = ink.muted;
  const label = (text: string, x: number, y: number, align: CanvasTextAlign) => {
    context.textAlign = align;
    context.fillText(text, x, y);
  };
  label("senders", 4, 40, "left");
  label(
    `${discipline}: ${shown.queued}${Number.isFinite(limit) ? ` of ${limit}` : ""} waiting, ${shown.inService} in service`,
    ((X.queue + X.link) / 2) * width,
    16,
    "center",
  );
  label("bottleneck", ((X.link + X.receiver) / 2) * width, Y.data + 24, "center");
  label("receivers", width - 4, 40, "right");
  label("ACKs", width / 2, Y.acks + 18, "center");
  const breadth = Math.min(Math.max(shown.slot - 1, 1.5), 7);
  for (const { x, y, of } of shown.drawn) {
    context.fillStyle = flowColor(of.flow);
    const isAck = y === Y.acks;
    const [w, h] = isAck ? [3, 6] : [breadth, 14];
    context.fillRect(x - w / 2, y - h / 2, w, h);
    if (of.isRetransmission && !isAck) {
      context.strokeStyle = ink.text;
      context.strokeRect(x - w / 2 - 1, y - h / 2 - 1, w + 2, h + 2);
    }
  }
  context.strokeStyle = ink.bad;
  context.lineWidth = 2;
  for (const { x, y } of shown.dropped) {
    context.beginPath();
    context.moveTo(x - 4, y - 4);
    context.lineTo(x + 4, y + 4);
    context.moveTo(x + 4, y - 4);
    context.lineTo(x - 4, y + 4);
    context.stroke();
  }
  const marked = [...shown.drawn, ...shown.dropped].find(({ of }) => of === chosen);
  if (!marked) return;
  context.strokeStyle = ink.text;
  context.beginPath();
  context.arc(marked.x, marked.y, 11, 0, 2 * Math.PI);
  context.stroke();
}

export interface PacketPathProps {
  run: Run;
  all: readonly Transmission[];
  times: PathTimes;
  timeS: number;
  chosen: Transmission | null;
  choose: (one: Transmission) => void;
}

export function PacketPath({ run, all, times, timeS, chosen, choose }: PacketPathProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const shown = useRef<ReturnType<typeof place> | null>(null);
  const limit = run.result.links[0]?.limit_packets ?? Infinity;
  const discipline = run.result.links[0]?.queue ?? "queue";
  useEffect(() => {
    const element = canvas.current as HTMLCanvasElement;
    const width = element.clientWidth;
    if (element.width !== width * devicePixelRatio) {
      element.width = width * devicePixelRatio;
      element.height = HEIGHT * devicePixelRatio;
    }
    const context = element.getContext("2d") as CanvasRenderingContext2D;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    shown.current = place(all, times, timeS, width, Number.isFinite(limit) ? limit : 1);
    draw(context, width, { limit, discipline }, shown.current, chosen);
  }, [run, all, timeS, chosen, theme.value]);

  function click(event: MouseEvent) {
    const { left, top } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const far = ({ x: u, y: v }: Drawn) => Math.hypot(u - x, v - y);
    const near = [...(shown.current?.drawn ?? []), ...(shown.current?.dropped ?? [])]
      .filter((one) => far(one) < 24)
      .sort((one, other) => far(one) - far(other))[0];
    if (near) choose(near.of);
  }

  return (
    <canvas
      ref={canvas}
      class="path"
      style={{ height: HEIGHT }}
      onClick={click}
      role="img"
      aria-label={`Packets at ${timeS.toFixed(3)} s: senders, queue, bottleneck, receivers, ACKs back`}
    />
  );
}
