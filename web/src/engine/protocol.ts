/** What the page and its worker send each other, and what a run is on the page. */

/** Values of the simulator's columns by name, as `crates/web/src/columns.rs` lists them. */
export type Columns = Record<string, Float64Array | Uint32Array>;

/** A row of `flows` in the result of a run; the metrics are those of `cwndlab run --json`. */
export interface FlowResult {
  flow: string;
  group: string;
  rule: string;
  recovery: string;
  goodput_bps: number;
  base_rtt_s: number;
  mean_rtt_s: number | null;
  mean_cwnd_packets: number;
  loss_rate: number | null;
  timeouts: number;
  fast_retransmits: number;
  [metric: string]: unknown;
}

/** A row of `links`. */
export interface LinkResult {
  link: string;
  rate_bps: number;
  delay_s: number;
  queue: string;
  limit_packets: number | null;
  utilization: number;
  mean_queueing_delay_s: number | null;
  p95_queueing_delay_s: number | null;
  dropped_packets: number;
  marked_packets: number;
  [metric: string]: unknown;
}

/** The account of a flow, for `Engine.explain`; `crates/sim/src/results/accounts.rs` has all of it. */
export interface Account {
  flow: string;
  group: string;
  rule: string;
  [part: string]: unknown;
}

/** The result of a run, as the simulator gives it. */
export interface RunResult {
  name: string;
  seed: number;
  duration_s: number;
  measure_from_s: number;
  measure_to_s: number;
  trace_hash: string;
  jain_index: number | null;
  lowest_share: number | null;
  aggregate_goodput_bps: number;
  flows: FlowResult[];
  links: LinkResult[];
  /** Of each flow, if the run kept them. */
  accounts?: Account[];
  [metric: string]: unknown;
}

/** A run, or its first part. */
export interface Run {
  /** Whether it reached the end; otherwise all that is here is of the time up to `simulatedS`. */
  complete: boolean;
  simulatedS: number;
  /** Time that the simulator took, milliseconds. */
  wallMs: number;
  /** Names behind the numbers of column `phases.phase`. */
  phases: string[];
  /** Bin of the goodput trace, seconds. */
  rateBinS: number;
  /** Bytes on the wire of a data packet of each flow. */
  wireBytes: number[];
  result: RunResult;
  columns: Columns;
}

/** A parameter of a rule. */
export interface RuleParameter {
  name: string;
  meaning: string;
  expected: string;
}

/** A rule that a scenario can name. */
export interface RuleFamily {
  name: string;
  summary: string;
  source: string;
  example: string;
  parameters: RuleParameter[];
}

/** A metric of a result. */
export interface Metric {
  label: string;
  unit: string;
  better: "higher" | "lower" | null;
  meaning: string;
}

/** What the simulator says of itself. */
export interface Description {
  version: string;
  rules: RuleFamily[];
  /** By table (`run`, `flows`, `links`) and name. */
  metrics: Record<string, Record<string, Metric>>;
  columns: [name: string, type: "Float64Array" | "Uint32Array"][];
}

/** A scenario to run, and how. */
export interface RunOptions {
  toml: string;
  /** Files that the scenario names, by name. */
  files?: Record<string, string>;
  /** Samples of windows and queues over the duration. */
  samples: number;
  /** Whether to record every packet. */
  packets?: boolean;
  /** Whether to keep accounts of flows. */
  account?: boolean;
  /** Time after which to stop and keep the first part, milliseconds; none: run to the end. */
  budgetMs?: number;
}

/** Two sides of which one got more goodput, each of one flow or several. */
export interface Sides {
  names: [string, string];
  accounts: [Account[], Account[]];
}

/** One cause of a difference of goodputs. */
export interface Cause {
  phase: string;
  factor: "time" | "window" | "delay" | "rate";
  /** Its part, bit/s. */
  bps: number;
  reason: string | null;
}

/** Why one side got more than the other, as `cwndlab explain` says it. */
export interface Explanation {
  headline: string;
  /** The largest in the direction of the difference first. */
  causes: Cause[];
  /** First side less second; `edges` is the part of what arrived at the ends of the measurement. */
  goodput_bps: { sides: [number, number]; difference: number; edges: number };
}

/** To the worker. */
export type Request =
  | { kind: "module"; bytes: ArrayBuffer }
  | { kind: "run"; id: number; slot: string; options: RunOptions }
  | { kind: "check"; id: number; text: string }
  | { kind: "explain"; id: number; sides: Sides }
  | { kind: "describe"; id: number };

/** From the worker. */
export type Response =
  /** The bytes of the module were no simulator. */
  | { kind: "not-loaded"; message: string }
  /** `last`: nothing more comes of this request. */
  | { kind: "run"; id: number; run: Run; last: boolean }
  /** A newer request of its slot came. */
  | { kind: "superseded"; id: number }
  | { kind: "invalid"; id: number; message: string }
  | { kind: "checked"; id: number; valid: boolean; text: string }
  | { kind: "explained"; id: number; explanation: Explanation }
  | { kind: "description"; id: number; description: Description };
