/** The simulator as the page sees it: promises; of one slot the latest request wins. */

import { moduleBytes } from "./module_bytes";
import type {
  Description,
  Explanation,
  Request,
  Response,
  Run,
  RunOptions,
  Sides,
} from "./protocol";
import SimulatorWorker from "./worker?worker&inline";

/** The scenario is not valid, or its run failed; the message is the command line's. */
export class ScenarioError extends Error {}

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  onPart?: (run: Run) => void;
}

export class Engine {
  private readonly worker: Worker = new SimulatorWorker();
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;
  /** Why nothing answers; empty while the simulator lives. */
  private failure = "";

  constructor() {
    this.worker.onmessage = ({ data }: MessageEvent<Response>) => this.receive(data);
    moduleBytes().then(
      (bytes) => this.send({ kind: "module", bytes }, [bytes]),
      (failure: Error) => this.failToLoad(failure.message),
    );
    this.worker.onerror = ({ message }) => this.fail(`the simulator stopped: ${message}`);
  }

  /**
   * Runs a scenario. Parts of a long run go to `onPart` as it goes on. Resolves to the run, or to
   * null when a newer request of the same slot replaced it; rejects with a `ScenarioError`.
   */
  run(slot: string, options: RunOptions, onPart?: (run: Run) => void): Promise<Run | null> {
    return this.ask((id) => ({ kind: "run", id, slot, options }), onPart);
  }

  /** Canonical form of a rule, or what is wrong with it. */
  checkRule(text: string): Promise<{ valid: boolean; text: string }> {
    return this.ask((id) => ({ kind: "check", id, text }));
  }

  /** Why one side got more goodput than the other. */
  explain(sides: Sides): Promise<Explanation> {
    return this.ask((id) => ({ kind: "explain", id, sides }));
  }

  /** Version, rules and columns of the simulator. */
  describe(): Promise<Description> {
    return this.ask((id) => ({ kind: "describe", id }));
  }

  private ask<T>(request: (id: number) => Request, onPart?: (run: Run) => void): Promise<T> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      if (this.failure) return reject(new ScenarioError(this.failure));
      this.pending.set(id, { resolve: resolve as (value: unknown) => void, reject, onPart });
      this.send(request(id));
    });
  }

  /** Ends all requests, those to come too: nothing will answer them. */
  private fail(message: string): void {
    this.failure = message;
    for (const { reject } of this.pending.values()) reject(new ScenarioError(message));
    this.pending.clear();
  }

  private failToLoad(why: string): void {
    this.fail(`the simulator was not loaded: ${why}`);
  }

  private send(request: Request, transfer: Transferable[] = []): void {
    this.worker.postMessage(request, transfer);
  }

  private receive(response: Response): void {
    if (response.kind === "not-loaded") return this.failToLoad(response.message);
    const pending = this.pending.get(response.id);
    if (!pending) return;
    if (response.kind === "run" && !response.last) return pending.onPart?.(response.run);
    this.pending.delete(response.id);
    switch (response.kind) {
      case "run":
        return pending.resolve(response.run);
      case "superseded":
        return pending.resolve(null);
      case "invalid":
        return pending.reject(new ScenarioError(response.message));
      case "checked":
        return pending.resolve({ valid: response.valid, text: response.text });
      case "explained":
        return pending.resolve(response.explanation);
      case "description":
        return pending.resolve(response.description);
    }
  }
}

/** The one engine of the page. */
export const engine = new Engine();
