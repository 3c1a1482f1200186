/** Every lesson says what its runs say: each measured value lies in the range that the text is
 * written for. */

import { describe, expect, test } from "vitest";
import { lessons } from "../src/lessons/lesson";
import { measure, withUnit } from "../src/lessons/measure";
import { SAMPLES } from "../src/lessons/samples";
import { run } from "./simulator";

test("there are twelve lessons with steps, questions, sources and hints for the teacher", () => {
  expect(lessons.length).toBe(12);
  for (const lesson of lessons) {
    expect(Object.keys(lesson).sort()).toEqual([
      ...["ask", "minutes", "pitfalls", "questions", "sources", "steps", "summary", "title"],
    ]);
    for (const part of [lesson.ask, lesson.pitfalls, lesson.questions, lesson.sources])
      expect(part.length).toBeGreaterThan(0);
    expect(lesson.steps.length).toBeGreaterThanOrEqual(3);
  }
});

describe.each(lessons)("$title", ({ steps }) => {
  test.each(steps)("$title", (step) => {
    const found = run(step.scenario, SAMPLES);
    for (const { label, value, between } of step.measured) {
      const [low, high] = between;
      const number = measure(value, found);
      expect(number, `${label}: ${value}`).not.toBeNull();
      expect(number, label).toBeGreaterThanOrEqual(low);
      expect(number, label).toBeLessThanOrEqual(high);
    }
    expect(step.measured.length).toBeGreaterThan(0);
    expect(step.predict.choices.length).toBeGreaterThanOrEqual(2);
    expect(step.predict.choices[step.predict.right - 1]).toBeTypeOf("string");
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
