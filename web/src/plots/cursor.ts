/** One cursor and one range of time for all plots. */

import { computed, signal } from "@preact/signals";

/** Time under the cursor, seconds; null without one. */
export const cursorS = signal<number | null>(null);
/** Time that Look plays, seconds; null where nothing plays. */
export const playedS = signal<number | null>(null);
/** Time that plots mark: under the cursor, else the played one. */
export const markedS = computed(() => cursorS.value ?? playedS.value);
/** Range of time shown, seconds; null: all of it. */
export const range = signal<[fromS: number, toS: number] | null>(null);
