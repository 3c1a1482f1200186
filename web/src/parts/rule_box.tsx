/** The rule of flows: a name or formulas, checked as it is typed, and a slider for each number. */

import { useEffect, useState } from "preact/hooks";
import { engine } from "../engine/client";
import { argumentsOf, description, faultAt, sliderRange } from "../state/rules";
import { faultyRules } from "../state/runs";
import { Slider } from "./slider";

export interface RuleBoxProps {
  /** Distinguishes the boxes of a page. */
  id: string;
  rule: string;
  set: (rule: string) => void;
}

export function RuleBox({ id, rule, set }: RuleBoxProps) {
  const [draft, setDraft] = useState(rule);
  const [fault, setFault] = useState<string | null>(null);
  // What others change (a slider, the text of the scenario) replaces what is typed.
  useEffect(() => {
    setDraft(rule);
    setFault(null);
  }, [rule]);

  useEffect(() => {
    if (fault === null) return;
    faultyRules.value = new Set(faultyRules.value).add(id);
    return () => {
      faultyRules.value = new Set([...faultyRules.value].filter((box) => box !== id));
    };
  }, [fault !== null]);

  async function type(text: string) {
    setDraft(text);
    const checked = await engine
      .checkRule(text)
      .catch(({ message }: Error) => ({ valid: false, text: message }));
    setFault(checked.valid ? null : checked.text);
    if (checked.valid) set(text);
  }

  const place = fault === null ? null : faultAt(draft, fault);
  return (
    <div class="rule">
      <label>
        <span class="name">Rule</span>
        <input
          class="mono"
          value={draft}
          spellcheck={false}
          autocomplete="off"
          aria-invalid={fault !== null}
          aria-describedby={fault === null ? undefined : `${id}-fault`}
          onInput={(event) => void type(event.currentTarget.value)}
        />
      </label>
      {/* Beside the text: a list of its own would show only the rules that begin like it. */}
      <select
        class="rules"
        aria-label="Choose from the list"
        value=""
        onChange={(event) => void type(event.currentTarget.value)}
      >
        <option value="" hidden />
        {description.value?.rules.map((family) => (
          <option key={family.name} value={family.example}>
            {family.example}: {family.summary}
          </option>
        ))}
      </select>
      {fault !== null && (
        <div class="fault" id={`${id}-fault`} role="alert">
          {place !== null && (
            <pre aria-hidden="true">
              {draft.slice(0, place)}
              <mark>{draft.slice(place, place + 1) || " "}</mark>
              {draft.slice(place + 1)}
            </pre>
          )}
          {fault}
        </div>
      )}
      {argumentsOf(draft).map((argument) => {
        const [least, most, logarithmic] = sliderRange(argument);
        const { parameter, value, span } = argument;
        return (
          <Slider
            key={parameter.name}
            label={parameter.name}
            title={parameter.meaning}
            {...{ value, least, most, logarithmic }}
            text={draft.slice(...span)}
            set={(next) => set(draft.slice(0, span[0]) + String(next) + draft.slice(span[1]))}
          />
        );
      })}
    </div>
  );
}
