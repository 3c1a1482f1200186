/** Plays the run: moves the shared cursor of time. */

import { effect, signal } from "@preact/signals";
import { playedS } from "../plots/cursor";
import { run } from "./runs";

export const playing = signal(false);
/** Simulated seconds per second. */
export const speed = signal(0.1);

/** Moves the cursor; it stays within the run. */
export function seek(timeS: number): void {
  const endS = run.value?.simulatedS ?? 0;
  playedS.value = Math.min(Math.max(timeS, 0), endS);
}

/** Moves the cursor by a time, seconds. */
export function seekBy(seconds: number): void {
  seek((playedS.value ?? 0) + seconds);
}

effect(() => {
  if (!playing.value) return;
  let beforeMs = performance.now();
  let frame = requestAnimationFrame(function step(nowMs) {
    seekBy(((nowMs - beforeMs) / 1000) * speed.value);
    beforeMs = nowMs;
    if ((playedS.value ?? 0) >= (run.value?.simulatedS ?? 0)) playing.value = false;
    else frame = requestAnimationFrame(step);
  });
  return () => cancelAnimationFrame(frame);
});
