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
  /** What theory gives, or runs over `over` and over twice the duration; a comment says which. */
  between: [number, number];
}

/** Dotted keys of the scenario, as in `flows.1.start`, and the values that each takes in turn. */
export type Over = Record<string, unknown[]>;

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
  /** Runs over which the statements hold, too; without it, seeds 1 to 20. */
  over?: Over;
  /** The step is about the start of a run: its statements need not hold over twice the duration. */
  transient?: boolean;
}

/** Tops of the axes that all steps of a lesson share, in the units of the plots. */
export type Axes = Partial<Record<PlotName, number>>;

export interface Lesson {
  title: string;
  summary: string;
  /** How long it takes in class. */
  minutes: number;
  sources: string[];
  /** For the teacher: what to ask, and where students go wrong. */
  ask: string[];
  pitfalls: string[];
  axes?: Axes;
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
