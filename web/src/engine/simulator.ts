/** The WebAssembly module: texts and columns cross its memory (`crates/web/src/exports.rs`). */

import type {
  Columns,
  Description,
  Explanation,
  Run,
  RunOptions,
  RunResult,
  Sides,
} from "./protocol";

interface Exports {
  memory: WebAssembly.Memory;
  input(bytes: number): number;
  start(): number;
  advance(events: number): number;
  simulated_s(): number;
  collect(): void;
  check_rule(): number;
  explain(): number;
  describe(): void;
  output(): number;
  output_length(): number;
  column(number: number): number;
  column_length(number: number): number;
}

/** State of a run, as `Progress` in `crates/web/src/studio.rs`. */
export enum Progress {
  Running = 0,
  Done = 1,
  Failed = 2,
}

const ARRAYS = { Float64Array, Uint32Array };

export class Simulator {
  readonly description: Description;

  private constructor(private readonly wasm: Exports) {
    wasm.describe();
    this.description = JSON.parse(this.output()) as Description;
  }

  static async of(bytes: BufferSource): Promise<Simulator> {
    const { instance } = await WebAssembly.instantiate(bytes);
    return new Simulator(instance.exports as unknown as Exports);
  }

  /** Builds a run; if it fails, `message` says why. */
  start({ toml, files = {}, samples, packets = false, account = false }: RunOptions): Progress {
    this.write(JSON.stringify({ toml, files, samples, packets, account }));
    return this.wasm.start();
  }

  /** Processes at most so many events. */
  advance(events: number): Progress {
    return this.wasm.advance(events);
  }

  get message(): string {
    return this.output();
  }

  /** What the run has recorded so far. The arrays are copies. */
  collect(complete: boolean, wallMs: number): Run {
    this.wasm.collect();
    const { simulated_s, phases, rate_bin_s, wire_bytes, result } = JSON.parse(this.output()) as {
      simulated_s: number;
      phases: string[];
      rate_bin_s: number;
      wire_bytes: number[];
      result: RunResult;
    };
    const columns: Columns = {};
    this.description.columns.forEach(([name, type], number) => {
      const [start, length] = [this.wasm.column(number), this.wasm.column_length(number)];
      columns[name] = new ARRAYS[type](this.wasm.memory.buffer, length ? start : 0, length).slice();
    });
    return {
      complete,
      simulatedS: simulated_s,
      wallMs,
      phases,
      rateBinS: rate_bin_s,
      wireBytes: wire_bytes,
      result,
      columns,
    };
  }

  /** The canonical form of a rule, or what is wrong with it. */
  checkRule(text: string): { valid: boolean; text: string } {
    this.write(text);
    const valid = this.wasm.check_rule() !== 0;
    return { valid, text: this.output() };
  }

  /** Why one side got more than the other. */
  explain(sides: Sides): Explanation {
    this.write(JSON.stringify(sides));
    if (!this.wasm.explain()) throw new Error(this.output());
    return JSON.parse(this.output()) as Explanation;
  }

  private write(text: string): void {
    const bytes = new TextEncoder().encode(text);
    const start = this.wasm.input(bytes.length);
    new Uint8Array(this.wasm.memory.buffer, start, bytes.length).set(bytes);
  }

  private output(): string {
    const [start, length] = [this.wasm.output(), this.wasm.output_length()];
    return new TextDecoder().decode(new Uint8Array(this.wasm.memory.buffer, start, length).slice());
  }
}
