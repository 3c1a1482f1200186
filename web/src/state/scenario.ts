/** The scenario of the page: its text is the state, all controls edit the text. */

import { batch, computed, signal } from "@preact/signals";
import { headComment, parseDocument, withValue, type Path } from "./document";
import { examples } from "./examples";

/** The scenario, TOML. */
export const toml = signal("");
/** Files that it names, by name. */
export const files = signal<Record<string, string>>({});
/** Its values; null where the text is no TOML. */
export const scenario = computed(() => parseDocument(toml.value));

/** Takes over an edited text, without what an example says of itself: that may be true no longer. */
export function write(text: string): void {
  const comment = headComment(text);
  const example = Object.entries(examples).find(([, one]) => headComment(one) === comment);
  const isOwn = !comment || !example;
  toml.value = isOwn
    ? text
    : withValue(text.slice(comment.length), ["name"], `${example[0]}-edited`);
}

/** Replaces the value at a path; `undefined` removes it. */
export function edit(path: Path, value: unknown): void {
  write(withValue(toml.value, path, value));
}

/** Replaces the scenario. */
export function open(text: string, named: Record<string, string> = {}): void {
  batch(() => {
    files.value = named;
    toml.value = text;
  });
}
