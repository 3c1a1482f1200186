/** Every lesson says what its runs say: each measured value lies in the range that the text is
 * written for, in the run that is shown, with other seeds, and in runs of twice the duration. */

import { describe, expect, test } from "vitest";
import type { Run } from "../src/engine/protocol";
import { lessons, type Over, type Step } from "../src/lessons/lesson";
import { measure, withUnit } from "../src/lessons/measure";
import { SAMPLES } from "../src/lessons/samples";
import { highestOf } from "../src/lessons/plot_values";
import { at, parseDocument, withValue, type Path } from "../src/state/document";
import { parseTime, timeText } from "../src/state/quantities";
import { run } from "./simulator";

const SEEDS: Over = { seed: Array.from({ length: 20 }, (_, index) => index + 1) };

/** Of so many variations one is run; all of them with CWNDLAB_LESSONS=all, as `make test-all` does. */
const EVERY = process.env.CWNDLAB_LESSONS === "all" ? 1 : 4;

/** The scenarios of a step beside the shown one, by what is different. */
function variationsOf({ scenario, over = SEEDS }: Step): [what: string, toml: string][] {
  return Object.entries(over).flatMap(([key, values]) => {
    const path: Path = key.split(".").map((name) => (/^\d+$/.test(name) ? Number(name) : name));
    return values.map((value): [string, string] => [
      `${key} = ${String(value)}`,
      withValue(scenario, path, value),
    ]);
  });
}

/** The scenario for twice as long, measured from the same time on. */
function twice(toml: string): string {
  const document = parseDocument(toml);
  const doubled = (path: Path) => timeText(2 * parseTime(at(document, path))!);
  const longer = withValue(toml, ["duration"], doubled(["duration"]));
  return at(document, ["measure", 1]) === undefined
    ? longer
    : withValue(longer, ["measure", 1], doubled(["measure", 1]));
}

function expectRanges({ measured }: Step, found: Run, what: string): void {
  for (const { label, value, between } of measured) {
    const number = measure(value, found);
    expect(number, `${label}, ${what}: ${value}`).not.toBeNull();
    expect(number, `${label}, ${what}`).toBeGreaterThanOrEqual(between[0]);
    expect(number, `${label}, ${what}`).toBeLessThanOrEqual(between[1]);
  }
}

test("there are twelve lessons with steps, questions, sources and hints for the teacher", () => {
  expect(lessons.length).toBe(12);
  for (const lesson of lessons) {
    const { axes, ...rest } = lesson;
    expect(Object.values(axes ?? {})).not.toContain(0);
    expect(Object.keys(rest).sort()).toEqual([
      ...["ask", "minutes", "pitfalls", "questions", "sources", "steps", "summary", "title"],
    ]);
    for (const part of [lesson.ask, lesson.pitfalls, lesson.questions, lesson.sources])
      expect(part.length).toBeGreaterThan(0);
    expect(lesson.steps.length).toBeGreaterThanOrEqual(3);
  }
});

describe.each(lessons)("$title", ({ axes = {}, steps }) => {
  test.each(steps)("$title", (step) => {
    const found = run(step.scenario, SAMPLES);
    expectRanges(step, found, "as shown");
    expect(step.measured.length).toBeGreaterThan(0);
    expect(step.predict.choices.length).toBeGreaterThanOrEqual(2);
    expect(step.predict.choices[step.predict.right - 1]).toBeTypeOf("string");
    // An axis that a run exceeds would not be the one that the steps share.
    for (const name of step.show.filter((name) => name !== "plane"))
      expect(highestOf(found, name), name).toBeLessThanOrEqual(axes[name] ?? Infinity);
  });

  test.each(steps)("$title, varied", (step) => {
    const variations = variationsOf(step).filter((_, index) => index % EVERY === 0);
    const hashes = variations.map(([what, toml]) => {
      const found = run(toml, SAMPLES);
      expectRanges(step, found, what);
      if (!step.transient) expectRanges(step, run(twice(toml), SAMPLES), `${what}, twice as long`);
      return found.result.trace_hash;
    });
    // Otherwise what is varied does not matter, and the runs show nothing.
    expect(new Set(hashes).size).toBe(variations.length);
  });
});

test("a value that a run does not have is null, and units are people's", () => {
  const found = run(lessons[0]!.steps[0]!.scenario, 10);
  expect(measure("flows.nobody.goodput_bps", found)).toBeNull();
  expect(measure("flows.first.no_metric", found)).toBeNull();
  expect(measure("run.seed", found)).toBe(1);
  expect(measure("flows.nobody.goodput_bps / run.seed", found)).toBeNull();
  expect(withUnit(0.04512, "ms")).toBe("45.1 ms");
  expect(withUnit(9.4706e6, "Mbit/s")).toBe("9.47 Mbit/s");
  expect(withUnit(0.99995, "%")).toBe("100 %");
  expect(withUnit(0.99995)).toBe("1.00");
  expect(withUnit(473, "packets")).toBe("473 packets");
  expect(withUnit(1)).toBe("1");
});
