/** Compare: the page's scenario, and the same with one key changed. */

import { batch, computed, effect, signal } from "@preact/signals";
import { engine, ScenarioError } from "../engine/client";
import type { Run } from "../engine/protocol";
import { at, withValue, type Path } from "./document";
import { accounts, dragging, samples } from "./runs";
import { files, scenario, toml } from "./scenario";

/** A key that the second setting has another value of. */
export interface Change {
  label: string;
  path: Path;
}

/** Keys that can differ. */
export const changes = computed((): Change[] => {
  const flows = at(scenario.value, ["flows"]);
  const groups = Array.isArray(flows) ? flows : [];
  const isDumbbell = at(scenario.value, ["dumbbell"]) !== undefined;
  const network: Change[] = [
    { label: "Queue", path: ["dumbbell", "queue", "kind"] },
    { label: "Buffer", path: ["dumbbell", "queue", "limit"] },
    { label: "Rate", path: ["dumbbell", "rate"] },
    { label: "Delay, one way", path: ["dumbbell", "delay"] },
  ];
  return [
    ...(isDumbbell ? network : []),
    ...groups.flatMap((group, index): Change[] => {
      const name = String(at(group as never, ["name"]) ?? `flow ${index + 1}`);
      return [
        { label: `Rule of ${name}`, path: ["flows", index, "rule"] },
        { label: `Recovery of ${name}`, path: ["flows", index, "recovery"] },
      ];
    }),
    { label: "Seed", path: ["seed"] },
  ];
});

/** Which of the keys differs. */
export const chosen = signal(0);
/** Its value in the second setting. */
export const changed = signal<unknown>("fq-codel");
/** The second setting. */
export const other = signal<Run | null>(null);
export const otherError = signal<string | null>(null);

/** The key that differs. */
export const change = computed(() => changes.value[chosen.value] ?? changes.value[0]);

/** Chooses the key, and its value in the second setting. */
export function differ(path: Path, value: unknown): void {
  const index = changes.value.findIndex((one) => one.path.join(".") === path.join("."));
  if (index < 0) return;
  chosen.value = index;
  changed.value = value;
}

/** The text of the second setting. */
export const otherToml = computed(() =>
  change.value ? withValue(toml.value, change.value.path, changed.value) : toml.value,
);

/** Runs the second setting now and after every change; returns what ends it. */
export function keepComparing(): () => void {
  let latest = 0;
  return effect(() => {
    const isDrag = dragging.value;
    const options = {
      toml: otherToml.value,
      files: files.value,
      samples: samples.value,
      account: accounts.value && !isDrag,
    };
    const number = ++latest;
    const show = (run: Run) =>
      number === latest &&
      batch(() => {
        other.value = run;
        otherError.value = null;
      });
    engine.run("other", isDrag ? { ...options, budgetMs: 60 } : options, show).then(
      (run) => run && show(run),
      (failure: unknown) => {
        if (!(failure instanceof ScenarioError)) throw failure;
        if (number === latest) otherError.value = failure.message;
      },
    );
  });
}
