/** Why one side got more goodput than another: a sentence, and the parts of the difference. */

import { useEffect, useState } from "preact/hooks";
import { engine } from "../engine/client";
import type { Account, Cause, Explanation, Run } from "../engine/protocol";
import { accounts } from "../state/runs";
import { Choice } from "./choice";
import { figure } from "./summary";

/** Two sides that a reader may choose. */
export interface Pair {
  label: string;
  names: [string, string];
  /** Picks the accounts of each side. */
  of: [run: Run, is: (account: Account) => boolean][];
}

/** How the table names phases. */
const PHASES: Record<string, string> = {
  timeout: "timeout",
  recovery: "recovery",
  application: "application",
  receiver: "receiver's window",
  slow_start: "slow start",
  growth: "past slow start",
  absent: "absent",
};
const FACTORS: Record<Cause["factor"], string> = {
  time: "time",
  window: "window",
  delay: "delay",
  rate: "window and delay",
};
/** Parts below this share of the largest one are told as a sum. */
const LEAST_SHARE = 0.02;
const MOST_ROWS = 6;
const MOST_GROUPS = 4;

/** A row of the table. */
interface Part {
  label: string;
  bps: number;
  reason: string;
}

/** The parts that matter, then all others as one; they add up to the difference. */
function partsOf({ causes, goodput_bps: { difference, edges } }: Explanation): Part[] {
  const parts: Part[] = causes.map(({ phase, factor, bps, reason }) => ({
    label: `${PHASES[phase] ?? phase}: ${FACTORS[factor]}`,
    bps,
    reason: reason ?? "",
  }));
  parts.push({ label: "edges of the measurement", bps: edges, reason: "" });
  const least = LEAST_SHARE * Math.max(...parts.map(({ bps }) => Math.abs(bps)));
  const kept = parts
    .slice()
    .sort((a, b) => Math.abs(b.bps) - Math.abs(a.bps))
    .slice(0, MOST_ROWS)
    .filter(({ bps }) => Math.abs(bps) > least);
  const rest = difference - kept.reduce((sum, { bps }) => sum + bps, 0);
  const others = Math.abs(rest) > least ? [{ label: "all else", bps: rest, reason: "" }] : [];
  return [...parts.filter((part) => kept.includes(part)), ...others];
}

/** A bar from the middle, to the side that the part favours. */
function Bar({ bps, most }: { bps: number; most: number }) {
  const width = most > 0 ? (50 * Math.abs(bps)) / most : 0;
  return (
    <svg class="part" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect
        class={bps < 0 ? "second" : "first"}
        x={bps < 0 ? 50 - width : 50}
        y="1"
        width={width}
        height="8"
      />
      <line x1="50" x2="50" y1="0" y2="10" />
    </svg>
  );
}

function signed(bps: number): string {
  const text = figure(Math.abs(bps), 1e-6);
  return text === "0" ? text : `${bps < 0 ? "−" : "+"}${text}`;
}

function Parts({ explanation, names }: { explanation: Explanation; names: [string, string] }) {
  const parts = partsOf(explanation);
  const most = Math.max(...parts.map(({ bps }) => Math.abs(bps)));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Parts of the difference">
      <table class="parts">
        <thead>
          <tr>
            <th scope="col">Part of the difference</th>
            <th scope="col">
              <span class="towards">
                <span>← for {names[1]}</span> <span>for {names[0]} →</span>
              </span>
            </th>
            <th scope="col">Mbit/s</th>
            <th scope="col">What differs</th>
          </tr>
        </thead>
        <tbody>
          {parts.map(({ label, bps, reason }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>
                <Bar bps={bps} most={most} />
              </td>
              <td>{signed(bps)}</td>
              <td>{reason}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Difference</th>
            <td />
            <td>{signed(explanation.goodput_bps.difference)}</td>
            <td />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

/** Each two groups of flows of a run, of the first few. */
export function pairsWithin(run: Run, where = ""): Pair[] {
  const groups = [...new Set(run.result.flows.map(({ group }) => group))].slice(0, MOST_GROUPS);
  return groups.flatMap((first, index) =>
    groups.slice(index + 1).map((second): Pair => ({
      label: `${where}${first} against ${second}`,
      names: [first, second],
      of: [
        [run, ({ group }) => group === first],
        [run, ({ group }) => group === second],
      ],
    })),
  );
}

/** Computed once it is open, and again when the runs that it is of are complete. */
export function Why({ pairs }: { pairs: Pair[] }) {
  const [isOpen, setOpen] = useState(false);
  const [chosen, choose] = useState("");
  const [shown, show] = useState<{ names: [string, string]; explanation: Explanation } | null>(
    null,
  );
  const [failure, fail] = useState("");
  const pair = pairs.find(({ label }) => label === chosen) ?? pairs[0];
  const runs = pair?.of.map(([run]) => run) ?? [];
  useEffect(() => {
    if (!isOpen || !pair) return;
    accounts.value = true;
    const { names } = pair;
    const [first = [], second = []] = pair.of.map(([run, is]) =>
      (run.result.accounts ?? []).filter(is),
    );
    if (!runs.every(({ complete }) => complete) || !first.length || !second.length) return;
    let isCurrent = true;
    fail("");
    engine.explain({ names, accounts: [first, second] }).then(
      (explanation) => isCurrent && show({ names, explanation }),
      ({ message }: Error) => isCurrent && fail(message),
    );
    return () => void (isCurrent = false);
  }, [isOpen, pair?.names.join("\n"), ...runs]);
  if (!pair) return null;
  return (
    <details class="why" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Why</summary>
      {isOpen && pairs.length > 1 && (
        <Choice
          label="Explain:"
          value={pair.label}
          options={pairs.map(({ label }) => label)}
          set={choose}
        />
      )}
      {isOpen && failure && <p class="aside">{failure}</p>}
      {isOpen && !shown && !failure && <p class="aside">Computing …</p>}
      {isOpen && shown && (
        <>
          <p class="headline">{shown.explanation.headline}.</p>
          <Parts {...shown} />
        </>
      )}
    </details>
  );
}
