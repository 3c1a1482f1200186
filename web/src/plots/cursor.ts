/** One cursor and one range of time for all plots. */

import { signal } from "@preact/signals";

/** Time under the cursor, seconds; null without one. */
export const cursorS = signal<number | null>(null);
/** Range of time shown, seconds; null: all of it. */
export const range = signal<[fromS: number, toS: number] | null>(null);
