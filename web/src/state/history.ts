/** Undo and redo of what the page's scenario was. A drag is one change. */

import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { dragging } from "./runs";
import { files, open, toml } from "./scenario";

interface Held {
  toml: string;
  files: Record<string, string>;
}

/** Changes that can be undone; older ones are forgotten. */
const MOST = 200;

let current: Held = { toml: "", files: {} };
const past = signal<Held[]>([]);
const future = signal<Held[]>([]);

export const canUndo = computed(() => past.value.length > 0);
export const canRedo = computed(() => future.value.length > 0);

/** Begins with the scenario that the page has now. */
export function keepHistory(): void {
  current = { toml: toml.value, files: files.value };
  effect(() => {
    const now = { toml: toml.value, files: files.value };
    if (dragging.value || (now.toml === current.toml && now.files === current.files)) return;
    const before = current;
    current = now;
    untracked(() =>
      batch(() => {
        past.value = [...past.value, before].slice(-MOST);
        future.value = [];
      }),
    );
  });
}

/** Replaces the scenario by the last one of a list, and keeps it at the end of the other. */
function step(from: typeof past, to: typeof past): void {
  const held = from.value.at(-1);
  if (!held) return;
  const before = current;
  current = held;
  batch(() => {
    from.value = from.value.slice(0, -1);
    to.value = [...to.value, before];
    open(held.toml, held.files);
  });
}

export const undo = (): void => step(past, future);
export const redo = (): void => step(future, past);
