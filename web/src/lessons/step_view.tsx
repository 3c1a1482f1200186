/** A step of a lesson: text, prediction, and then the run with what it says. */

import { useEffect, useState } from "preact/hooks";
import type { Run } from "../engine/protocol";
import { cursorS, range } from "../plots/cursor";
import { open } from "../state/scenario";
import type { Axes, Prediction, Step } from "./lesson";
import { measure, withUnit } from "./measure";
import { Inline, Prose } from "./prose";
import { StepPlots } from "./step_plots";
import { useRun, type Shown } from "./use_run";

/** Predictions made on this page, by the scenario of their step: who goes back finds them again. */
const answers = new Map<string, number>();

interface PredictProps {
  predict: Prediction;
  /** The chosen answer, from 1 on; null before. */
  answer: number | null;
  onAnswer(answer: number): void;
}

function Predict({ predict, answer, onAnswer }: PredictProps) {
  const [chosen, setChosen] = useState(answer);
  const marks = (choice: number) => {
    if (answer === null) return undefined;
    if (choice === predict.right) return "right";
    return choice === answer ? "wrong" : undefined;
  };
  return (
    <form
      class="predict"
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen !== null) onAnswer(chosen);
      }}
    >
      <fieldset disabled={answer !== null}>
        <legend>
          <strong>Predict.</strong> <Inline text={predict.ask} />
        </legend>
        {predict.choices.map((choice, index) => (
          <label class={marks(index + 1)}>
            <input
              type="radio"
              name="prediction"
              checked={chosen === index + 1}
              onChange={() => setChosen(index + 1)}
            />
            <span>
              <Inline text={choice} />
            </span>
          </label>
        ))}
      </fieldset>
      {answer === null && (
        <button type="submit" disabled={chosen === null}>
          Show the run
        </button>
      )}
    </form>
  );
}

/** The time that the metrics cover, in words. */
function spanOf({ result: { measure_from_s: fromS, measure_to_s: toS, duration_s: wholeS } }: Run) {
  return fromS > 0 || toS < wholeS ? `from ${fromS} s to ${toS} s of this run` : "in this run";
}

/** What the run says, with the values of this very run. */
function Findings({ step, shown }: { step: Step; shown: Shown }) {
  const { run } = shown;
  return (
    <>
      <table class="findings">
        <caption>Measured {run?.complete ? spanOf(run) : "in this run"}</caption>
        <tbody>
          {step.measured.map(({ label, value, unit }) => {
            const found = run?.complete ? measure(value, run) : null;
            return (
              <tr>
                <th scope="row">{label}</th>
                <td>{found === null ? "…" : withUnit(found, unit)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <Prose text={step.why} />
    </>
  );
}

/** Where the plots will be, until the prediction is made. */
function Curtain() {
  return (
    <div class="curtain">
      <p>The run is ready. Make your prediction first.</p>
    </div>
  );
}

export function StepView({ step, axes }: { step: Step; axes: Axes }) {
  const { predict, scenario } = step;
  const [answer, setAnswer] = useState(answers.get(scenario) ?? null);
  const shown = useRun(scenario);
  const onAnswer = (chosen: number) => {
    answers.set(scenario, chosen);
    setAnswer(chosen);
  };
  // A range of time that was chosen in another run means nothing here.
  useEffect(() => void ((range.value = null), (cursorS.value = null)), [step]);
  return (
    <div class="step">
      <div class="step-text">
        <Prose text={step.text} />
        <Predict {...{ predict, answer, onAnswer }} />
        <div role="status">
          {answer !== null && (
            <p class="verdict">
              {answer === predict.right ? (
                "Your prediction is right."
              ) : (
                <>
                  The run says otherwise: “
                  <Inline text={predict.choices[predict.right - 1] ?? ""} />
                  ”.
                </>
              )}
            </p>
          )}
        </div>
        {answer !== null && <Findings {...{ step, shown }} />}
        {answer !== null && (
          <p>
            <a href="#/build" onClick={() => open(scenario)}>
              Change this network in Build
            </a>
          </p>
        )}
        {shown.error && <p role="alert">{shown.error}</p>}
      </div>
      {answer !== null && shown.run ? (
        <StepPlots run={shown.run} {...{ axes, show: step.show }} />
      ) : (
        <Curtain />
      )}
    </div>
  );
}
