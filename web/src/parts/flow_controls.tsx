/** Controls of the flows: rule, number, recovery, extra delay, start. */

import { flowColor } from "../plots/colors";
import { at, textAt, type Document, type Path } from "../state/document";
import { parseTime, spaced, timeText } from "../state/quantities";
import { edit, scenario } from "../state/scenario";
import { Choice } from "./choice";
import { RuleBox } from "./rule_box";
import { Slider } from "./slider";

export const RECOVERIES = ["sack", "newreno", "reno", "tahoe", "fack"] as const;

function groups(): Document[] {
  const flows = at(scenario.value, ["flows"]);
  return Array.isArray(flows) ? (flows as Document[]) : [];
}

/** A slider over a time, where the scenario has one number there. */
function Time({
  path,
  label,
  most,
  title,
}: {
  path: Path;
  label: string;
  most: number;
  title: string;
}) {
  const value = at(scenario.value, path);
  const seconds = value === undefined ? 0 : parseTime(value);
  if (seconds === null)
    return (
      <p class="aside">
        {label}: {JSON.stringify(value)}
      </p>
    );
  return (
    <Slider
      {...{ label, most, title }}
      value={seconds}
      least={0}
      text={spaced(timeText(seconds))}
      set={(next) => edit(path, next === 0 ? undefined : timeText(next))}
    />
  );
}

function Group({ index, first, alone }: { index: number; first: number; alone: boolean }) {
  const path: Path = ["flows", index];
  const count = Number(at(scenario.value, [...path, "count"]) ?? 1);
  const name = textAt(scenario.value, [...path, "name"], "tcp");
  const durationS = parseTime(at(scenario.value, ["duration"])) ?? 60;
  return (
    <fieldset class="group">
      <legend>
        <span class="swatch" style={{ background: flowColor(first) }} /> {name}
        <small>
          {" "}
          {count > 1 && `× ${count} `}
          {traffic((at(scenario.value, path) ?? {}) as Document)}
        </small>
      </legend>
      <RuleBox
        id={`rule-${index}`}
        rule={textAt(scenario.value, [...path, "rule"])}
        set={(rule) => edit([...path, "rule"], rule)}
      />
      <details>
        <summary>More settings</summary>
        <Slider
          label="Flows"
          value={count}
          least={1}
          most={20}
          text={String(count)}
          set={(next) =>
            edit([...path, "count"], Math.round(next) === 1 ? undefined : Math.round(next))
          }
        />
        <Choice
          label="Loss recovery"
          value={textAt(scenario.value, [...path, "recovery"], "sack")}
          options={RECOVERIES}
          set={(next) => edit([...path, "recovery"], next)}
        />
        {at(scenario.value, ["dumbbell"]) !== undefined && (
          <Time
            path={[...path, "access_delay"]}
            label="Access delay"
            most={0.1}
            title="One way, of the flow's own link: twice as much is added to its round trip time"
          />
        )}
        <Time
          path={[...path, "start"]}
          label="Start"
          most={durationS}
          title="When the flow begins"
        />
      </details>
      {!alone && (
        <button
          type="button"
          class="quiet"
          onClick={() => edit(path, undefined)}
          aria-label={`Remove ${name}`}
        >
          Remove
        </button>
      )}
    </fieldset>
  );
}

/** What flows send. */
function traffic(group: Document): string {
  if (group.responses !== undefined) return "request-response";
  if (group.frames !== undefined) return "media frames";
  if (group.page !== undefined) return "web pages";
  if (group.video !== undefined) return "adaptive video";
  const { packets, bytes } = group;
  if (packets !== undefined) return `${packets as number} packets`;
  return bytes === undefined ? "bulk download" : `${bytes as string}`;
}

/** Keys that a new flow has from the last: how it is controlled, and which way it takes. */
const INHERITED = ["rule", "recovery", "path", "back", "from", "to"];

/** One bulk download more, with the last group's rule and a name of its own. */
function add(): void {
  const last = groups().at(-1) ?? {};
  const names = new Set(groups().map((group) => group.name));
  let number = groups().length + 1;
  while (names.has(`flow-${number}`)) number += 1;
  const inherited = INHERITED.filter((key) => last[key] !== undefined);
  const flow = Object.fromEntries(inherited.map((key) => [key, last[key]]));
  edit(["flows"], [...groups(), { name: `flow-${number}`, ...flow }]);
}

export function FlowControls() {
  let first = 0;
  return (
    <>
      {groups().map((group, index, all) => {
        const begin = first;
        first += Number(group.count ?? 1);
        return <Group key={index} index={index} first={begin} alone={all.length === 1} />;
      })}
      {groups().length > 0 && (
        <button type="button" class="add" onClick={add}>
          Add a flow
        </button>
      )}
    </>
  );
}
