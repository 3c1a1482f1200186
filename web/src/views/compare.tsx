/** Compare: two settings that differ in one key, side by side. */

import { useEffect } from "preact/hooks";
import type { Run } from "../engine/protocol";
import { Choice } from "../parts/choice";
import { MetricTable } from "../parts/metric_table";
import { Legend, Measured } from "../parts/summary";
import { pairsWithin, Why, type Pair } from "../parts/why";
import { RuleBox } from "../parts/rule_box";
import { RECOVERIES } from "../parts/flow_controls";
import { QUEUES } from "../parts/network_controls";
import { bottleneckOf, goodputPanel, queuePanel, rttPanel, windowPanel } from "../plots/panels";
import type { Panel } from "../plots/svg";
import {
  change,
  changed,
  changes,
  chosen,
  differ,
  keepComparing,
  other,
  otherError,
  type Change,
} from "../state/comparison";
import { textAt } from "../state/document";
import { error, faultyRules, run } from "../state/runs";
import { edit, scenario } from "../state/scenario";
import { OtherPlots, WindowsOfRun, type Tops } from "./plots_of_run";

/** Keys whose value alone says what is meant. */
const SELF_EVIDENT = ["kind", "rule", "recovery"];

/** Gives the second setting another value of a key than the first has. */
function differIn(one: Change | undefined): void {
  if (!one) return;
  const key = one.path.at(-1) ?? "";
  differ(one.path, proposal(key, textAt(scenario.value, one.path) || defaultOf(key)));
}

/** What the second setting has when a key is chosen: something that is not the first's. */
function proposal(key: string | number, value: string): unknown {
  switch (key) {
    case "kind":
      return value === "fq-codel" ? "drop-tail" : "fq-codel";
    case "rule":
      return value === "CUBIC" ? "AIMD(1, 0.5)" : "CUBIC";
    case "recovery":
      return value === "reno" ? "sack" : "reno";
    case "limit":
      return value === "4bdp" ? "1bdp" : "4bdp";
    case "seed":
      return Number(value || 1) + 1;
    default:
      return value.replace(/^[\d.]+/, (number) => String(Number(number) * 2));
  }
}

/** A control for the value of a key, in either setting. */
function Value({
  id,
  value,
  set,
  label,
}: {
  id: string;
  value: string;
  set: (value: unknown) => void;
  label: string;
}) {
  switch (change.value?.path.at(-1)) {
    case "rule":
      return <RuleBox id={id} rule={value} set={set} />;
    case "kind":
      return <Choice label={label} value={value || "drop-tail"} options={QUEUES} set={set} />;
    case "recovery":
      return <Choice label={label} value={value || "sack"} options={RECOVERIES} set={set} />;
    default:
      return (
        <label class="choice">
          <span class="name">{label}</span>
          <input
            value={value}
            size={10}
            onChange={(event) => {
              const text = event.currentTarget.value;
              set(/^\d+$/.test(text) ? Number(text) : text);
            }}
          />
        </label>
      );
  }
}

/** Tops of the axes, so that equal heights are equal values on both sides. */
function topsOf(runs: Run[]): Tops {
  const highest = (panels: Panel[]) =>
    Math.max(
      ...panels.flatMap(({ lines }) =>
        lines.flatMap(({ values }) => values.map((value) => value ?? 0)),
      ),
      1e-9,
    );
  return {
    window: highest(runs.map(windowPanel)),
    goodput: highest(runs.map(goodputPanel)),
    queue: Math.max(
      highest(runs.map(queuePanel)),
      ...runs.map((one) => Math.min(bottleneckOf(one)?.limit_packets ?? 0, 500)),
    ),
    rtt: highest(runs.map(rttPanel)),
  };
}

function Side({
  shown,
  tops,
  fault,
  isStale,
  title,
  children,
}: {
  title: string;
  shown: Run | null;
  tops: Tops | undefined;
  fault: string | null;
  isStale: boolean;
  children: preact.ComponentChildren;
}) {
  return (
    <section class={isStale ? "stale" : ""}>
      <p class="aside last">{title}</p>
      <div class="difference">{children}</div>
      {fault !== null && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      {shown && <Legend run={shown} />}
      {shown && <WindowsOfRun run={shown} tops={tops} />}
      {shown && <OtherPlots run={shown} tops={tops} />}
      {shown?.complete && (
        <p class="aside">
          trace hash <span class="mono">{shown.result.trace_hash}</span>
        </p>
      )}
    </section>
  );
}

/** What may be explained: flows on the left against those on the right, and those of either side. */
function pairsOf(left: Run, right: Run, { path }: Change, values: [string, string]): Pair[] {
  const key = String(path.at(-1));
  const names = values.map((value) => (SELF_EVIDENT.includes(key) ? value : `${key} ${value}`));
  const across = (label: string, of: string, flows: (group: string) => boolean): Pair => ({
    label,
    names: [`${of}${names[0]}`, `${of}${names[1]}`],
    of: [
      [left, ({ group }) => flows(group)],
      [right, ({ group }) => flows(group)],
    ],
  });
  const groups = [...new Set(left.result.flows.map(({ group }) => group))];
  const all = across("all flows, left against right", "", () => true);
  const each = groups.map((one) =>
    across(`${one}, left against right`, `${one} with `, (group) => group === one),
  );
  // What differs for one group is explained of this one first.
  const own = path[0] === "flows" ? each.splice(Number(path[1]), 1) : [];
  const rest = groups.length > 1 ? [all, ...each] : each;
  return [...own, ...rest, ...pairsWithin(left, "left, "), ...pairsWithin(right, "right, ")];
}

export function Compare() {
  const key = change.value;
  const first = key ? textAt(scenario.value, key.path) : "";
  useEffect(() => {
    // Two equal settings compare nothing.
    if (String(changed.value) === (first || defaultOf(key?.path.at(-1)))) differIn(key);
  }, [key?.path.join(".")]);
  useEffect(keepComparing, []);
  const runs = [run.value, other.value].filter((one) => one !== null);
  const tops = runs.length ? topsOf(runs) : undefined;
  const staleSides: [boolean, boolean] = [
    error.value !== null || faultyRules.value.has("first"),
    otherError.value !== null || faultyRules.value.has("second"),
  ];
  const names: [string, string] = [first || defaultOf(key?.path.at(-1)), String(changed.value)];
  return (
    <main class="compare">
      <h2>
        <Choice
          label="Compare by:"
          value={String(chosen.value)}
          options={changes.value.map(({ label }, index) => [String(index), label] as const)}
          set={(value) => differIn(changes.value[Number(value)])}
        />
      </h2>
      <div class="sides">
        <Side
          title="Left: as in Build"
          shown={run.value}
          tops={tops}
          fault={error.value}
          isStale={staleSides[0]}
        >
          <Value
            id="first"
            label={key?.label ?? ""}
            value={first || names[0]}
            set={(value) => key && edit(key.path, value)}
          />
        </Side>
        <Side
          title="Right: one difference"
          shown={other.value}
          tops={tops}
          fault={otherError.value}
          isStale={staleSides[1]}
        >
          <Value
            id="second"
            label={key?.label ?? ""}
            value={String(changed.value)}
            set={(value) => (changed.value = value)}
          />
        </Side>
      </div>
      {run.value?.complete && other.value?.complete && (
        <div class={staleSides.some(Boolean) ? "stale" : ""}>
          <Measured run={run.value} />
          <MetricTable runs={[run.value, other.value]} names={names} />
        </div>
      )}
      {key && run.value && other.value && (
        <div class={staleSides.some(Boolean) ? "stale" : ""}>
          <Why pairs={pairsOf(run.value, other.value, key, names)} />
        </div>
      )}
    </main>
  );
}

/** What a key is where the scenario does not say. */
function defaultOf(key: string | number | undefined): string {
  return { kind: "drop-tail", recovery: "sack", limit: "1bdp", seed: "1" }[String(key)] ?? "";
}
