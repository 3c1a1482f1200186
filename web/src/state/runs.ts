/** The run of the page's scenario: a first part while a control is dragged, whole on release. */

import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { engine, ScenarioError } from "../engine/client";
import type { Run } from "../engine/protocol";
import { files, toml } from "./scenario";

/** The last run; it stays while a newer one is computed or its scenario is not valid. */
export const run = signal<Run | null>(null);
/** What is wrong with the scenario. */
export const error = signal<string | null>(null);
/** Boxes whose rule, as it is typed, is none. */
export const faultyRules = signal<ReadonlySet<string>>(new Set());
/** Whether what is shown is an older run than what the controls say. */
export const stale = computed(() => error.value !== null || faultyRules.value.size > 0);
/** Whether a control is being dragged. */
export const dragging = signal(false);
/** Whether a run is computed. */
export const busy = signal(false);
/** Samples of windows and queues that views ask for. */
export const samples = signal(1200);
/** Whether views ask for every packet. */
export const packets = signal(false);
/** Whether a view has asked why flows differ: all later runs keep accounts. */
export const accounts = signal(false);

/** While a control is dragged a run stops after this time: ten redraws a second and a margin. */
const DRAG_BUDGET_MS = 60;

let latest = 0;

async function simulate(): Promise<void> {
  const number = ++latest;
  const isDrag = dragging.value;
  const show = (part: Run) => {
    if (number !== latest) return;
    batch(() => {
      run.value = part;
      error.value = null;
    });
    // `measure.js` counts these.
    performance.mark("redraw");
  };
  const options = {
    toml: toml.value,
    files: files.value,
    samples: isDrag ? Math.min(samples.value, 600) : samples.value,
    packets: packets.value && !isDrag,
    account: accounts.value && !isDrag,
    ...(isDrag ? { budgetMs: DRAG_BUDGET_MS } : {}),
  };
  busy.value = true;
  try {
    const whole = await engine.run("page", options, show);
    if (whole) show(whole);
  } catch (failure) {
    if (!(failure instanceof ScenarioError)) throw failure;
    if (number === latest) error.value = failure.message;
  }
  if (number === latest) busy.value = false;
}

/** A drag sends more changes than runs fit: each run ends before the latest change is simulated. */
let inFlight = false;
let again = false;

async function simulateWhileDragging(): Promise<void> {
  if (inFlight) {
    again = true;
    return;
  }
  inFlight = true;
  do {
    again = false;
    await simulate();
  } while (again && dragging.value);
  inFlight = false;
}

/** Runs the scenario now and after every change. */
export function keepRunning(): void {
  effect(() => {
    // A change of any of these needs a new run.
    void [toml.value, files.value, samples.value, packets.value, accounts.value, dragging.value];
    untracked(() => void (dragging.value ? simulateWhileDragging() : simulate()));
  });
}
