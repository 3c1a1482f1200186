/** The lessons, as their files in `content/` hold them. The key names are the files'. */

import { parse } from "smol-toml";

/** A plot that a step shows. */
export type PlotName = "windows" | "goodput" | "queue" | "rtt" | "plane";

/** A question that is asked before the run is shown. */
export interface Prediction {
  ask: string;
  choices: string[];
  /** Number of the right choice, from 1 on. */
  right: number;
}

/** A statement about the run: a value, and the range in which the text is true. */
export interface Measured {
  label: string;
  /** See `measure`. */
  value: string;
  unit?: string;
  between: [number, number];
}

export interface Step {
  title: string;
  show: PlotName[];
  text: string;
  /** A whole scenario, TOML. */
  scenario: string;
  predict: Prediction;
  /** Why the run is as it is; shown after the prediction. */
  why: string;
  measured: Measured[];
}

export interface Lesson {
  title: string;
  summary: string;
  /** How long it takes in class. */
  minutes: number;
  sources: string[];
  /** For the teacher: what to ask, and where students go wrong. */
  ask: string[];
  pitfalls: string[];
  steps: Step[];
  questions: { ask: string; solution: string }[];
}

const texts = import.meta.glob<string>("./content/*.toml", {
  query: "?raw",
  import: "default",
  eager: true,
});

/** All lessons in their order, which is that of their files' names. */
export const lessons: Lesson[] = Object.keys(texts)
  .sort()
  .map((path) => parse(texts[path] as string) as unknown as Lesson);
