/** The scenario of the page: its text is the state, all controls edit the text. */

import { computed, signal } from "@preact/signals";
import { parseDocument, withValue, type Path } from "./document";

/** The scenario, TOML. */
export const toml = signal("");
/** Files that it names, by name. */
export const files = signal<Record<string, string>>({});
/** Its values; null where the text is no TOML. */
export const scenario = computed(() => parseDocument(toml.value));

/** Replaces the value at a path; `undefined` removes it. */
export function edit(path: Path, value: unknown): void {
  toml.value = withValue(toml.value, path, value);
}

/** Replaces the scenario. */
export function open(text: string, named: Record<string, string> = {}): void {
  files.value = named;
  toml.value = text;
}
