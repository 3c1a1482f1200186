/** The worker: one run at a time, in slices between which it sees newer requests. */

import type { Request, Response } from "./protocol";
import { Progress, Simulator } from "./simulator";

/** Events between two looks at the clock: about a millisecond. */
const EVENTS = 1 << 12;
/** A slice of a run, milliseconds. */
const SLICE_MS = 12;
/** When a run that goes on is first shown, and how often after that, milliseconds. */
const FIRST_SHOWN_MS = 100;
const SHOWN_EVERY_MS = 500;

type RunRequest = Extract<Request, { kind: "run" }>;

const scope = self as unknown as DedicatedWorkerGlobalScope;
let provide: (simulator: Simulator) => void;
const ready = new Promise<Simulator>((resolve) => (provide = resolve));
/** Requests that wait, the newest of each slot. */
const waiting = new Map<string, RunRequest>();
let running: RunRequest | null = null;

function answer(response: Response, transfer: Transferable[] = []): void {
  scope.postMessage(response, transfer);
}

/** Lets messages in. */
function yieldToMessages(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve();
    port2.postMessage(null);
  });
}

function show(simulator: Simulator, id: number, progress: Progress, wallMs: number, last: boolean) {
  const run = simulator.collect(progress === Progress.Done, wallMs);
  answer(
    { kind: "run", id, run, last },
    Object.values(run.columns).map((column) => column.buffer),
  );
}

async function simulate(simulator: Simulator, { id, slot, options }: RunRequest): Promise<void> {
  const budgetMs = options.budgetMs ?? Infinity;
  let wallMs = 0;
  let nextShownMs = FIRST_SHOWN_MS;
  let progress = simulator.start(options);
  while (progress === Progress.Running) {
    const begin = performance.now();
    const stop = begin + Math.min(SLICE_MS, budgetMs - wallMs);
    do progress = simulator.advance(EVENTS);
    while (progress === Progress.Running && performance.now() < stop);
    wallMs += performance.now() - begin;
    if (progress !== Progress.Running) break;
    if (wallMs >= budgetMs) return show(simulator, id, progress, wallMs, true);
    await yieldToMessages();
    if (waiting.has(slot)) return answer({ kind: "superseded", id });
    if (wallMs >= nextShownMs) {
      show(simulator, id, progress, wallMs, false);
      nextShownMs = wallMs + SHOWN_EVERY_MS;
    }
  }
  if (progress === Progress.Done) return show(simulator, id, progress, wallMs, true);
  answer({ kind: "invalid", id, message: simulator.message });
}

async function runWaiting(): Promise<void> {
  if (running) return;
  const simulator = await ready;
  for (const [slot, request] of waiting) {
    if (running) return;
    waiting.delete(slot);
    running = request;
    await simulate(simulator, request);
    running = null;
  }
  if (waiting.size) await runWaiting();
}

scope.onmessage = async ({ data }: MessageEvent<Request>) => {
  switch (data.kind) {
    case "module":
      return Simulator.of(data.bytes).then(provide, ({ message }: Error) =>
        answer({ kind: "not-loaded", message }),
      );
    case "run": {
      const older = waiting.get(data.slot);
      if (older) answer({ kind: "superseded", id: older.id });
      waiting.set(data.slot, data);
      return runWaiting();
    }
    case "check":
      return answer({ kind: "checked", id: data.id, ...(await ready).checkRule(data.text) });
    case "explain": {
      const explanation = (await ready).explain(data.sides);
      return answer({ kind: "explained", id: data.id, explanation });
    }
    case "describe":
      return answer({ kind: "description", id: data.id, description: (await ready).description });
  }
};
