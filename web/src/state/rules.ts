/** Rules: what the simulator knows, the numbers within a rule's text, and where a text is wrong. */

import { signal } from "@preact/signals";
import { engine } from "../engine/client";
import type { Description, RuleParameter } from "../engine/protocol";

/** What the simulator says of itself; null until it is ready. */
export const description = signal<Description | null>(null);
// Where the simulator does not load, its run says so.
engine.describe().then(
  (said) => (description.value = said),
  () => undefined,
);

/** A number in the text of a rule, which a slider moves. */
export interface Argument {
  parameter: RuleParameter;
  value: number;
  /** Where its text lies: [first character, after the last]. */
  span: [number, number];
}

/** The name and the numbers of a text such as "AIMD(1, 0.5)". */
export function argumentsOf(text: string): Argument[] {
  const [, name = "", list = ""] = /^\s*(\w+)\s*\(([^"]*)\)\s*$/.exec(text) ?? [];
  const family = description.value?.rules.find(
    (rule) => rule.name.toLowerCase() === name.toLowerCase(),
  );
  if (!family || !list) return [];
  let start = text.indexOf("(") + 1;
  return list.split(",").flatMap((part, index) => {
    const begin = start + part.length - part.trimStart().length;
    start += part.length + 1;
    const parameter = family.parameters[index];
    const value = Number(part);
    if (!parameter || !part.trim() || !Number.isFinite(value)) return [];
    return [{ parameter, value, span: [begin, begin + part.trim().length] as [number, number] }];
  });
}

/** The range of a slider for a parameter: its allowed interval where that is narrow. */
export function sliderRange({
  parameter,
  value,
}: Argument): [least: number, most: number, logarithmic: boolean] {
  const [low, high] = (parameter.expected.match(/-?[\d.]+(e\d+)?/g) ?? []).map(Number) as [
    number,
    number?,
  ];
  if (/^between/.test(parameter.expected)) return [0.01, 0.99, false];
  if (low < 0) return [Math.max(low, -10), 0, false];
  if (high !== undefined && high <= 10)
    return [low === 0 && /^above/.test(parameter.expected) ? high / 100 : low, high, false];
  if (low === 1) return [1.005, 2, false];
  return [Math.min(0.05, value), Math.max(20, value), true];
}

/** The character at which a text is wrong, by the simulator's message; null where it names none. */
export function faultAt(text: string, message: string): number | null {
  const column = /^.*?: (\w+): "(.*)" is not valid: column (\d+)/.exec(message);
  if (column) {
    const start = text.search(new RegExp(`${column[1]}\\s*=\\s*"`));
    return start < 0 ? null : text.indexOf('"', start) + Number(column[3]);
  }
  const value = /^(?:rule ".*?": )?[\w']+: "?(.*?)"? is not (?:valid|known)/.exec(message)?.[1];
  const place = value === undefined ? -1 : text.lastIndexOf(value);
  return place < 0 ? null : place;
}
