/** Build: controls beside the run that they change. */

import { FlowControls } from "../parts/flow_controls";
import { NetworkControls } from "../parts/network_controls";
import { Source } from "../parts/source";
import { Undo } from "../parts/undo";
import { FlowTable, Summary } from "../parts/summary";
import { pairsWithin, Why } from "../parts/why";
import { Choice } from "../parts/choice";
import { Slider } from "../parts/slider";
import { at, textAt, withValue } from "../state/document";
import { exampleFiles, examples, startingPoints, titleOf } from "../state/examples";
import { parseTime, spaced, timeText } from "../state/quantities";
import { error, run, stale } from "../state/runs";
import { open, scenario, toml, write } from "../state/scenario";
import { OtherPlots, WindowsOfRun } from "./plots_of_run";

/** A new duration, with the measuring window in proportion. */
function setDuration(durationS: number): void {
  const measure = at(scenario.value, ["measure"]);
  const old = parseTime(at(scenario.value, ["duration"]));
  const times = Array.isArray(measure) ? measure.map(parseTime) : [];
  const text = withValue(toml.value, ["duration"], timeText(durationS));
  const scaled = times.map((time) => timeText(((time ?? 0) / (old ?? durationS)) * durationS));
  write(times.length === 2 ? withValue(text, ["measure"], scaled) : text);
}

function ScenarioControls() {
  const name = textAt(scenario.value, ["name"]);
  const durationS = parseTime(at(scenario.value, ["duration"]));
  const points = startingPoints();
  const isPoint = points.some(([point]) => point === name);
  return (
    <fieldset>
      <legend>Scenario</legend>
      <Choice
        label="Start from"
        value={name}
        options={isPoint ? points : [[name, titleOf(name)], ...points]}
        set={(chosen) => open(examples[chosen] ?? toml.value, exampleFiles)}
      />
      {durationS !== null && (
        <Slider
          label="Duration"
          value={durationS}
          least={5}
          most={600}
          logarithmic
          text={spaced(timeText(durationS))}
          set={setDuration}
        />
      )}
    </fieldset>
  );
}

export function Build() {
  const shown = run.value;
  return (
    <main class="build">
      <div class="controls">
        <Undo />
        <NetworkControls />
        <FlowControls />
        <ScenarioControls />
        <Source />
      </div>
      {/* On a narrow screen this stays in sight while the controls below it are moved. */}
      <div class={stale.value ? "first stale" : "first"}>
        {error.value !== null && (
          <p class="fault" role="alert">
            {error.value}
          </p>
        )}
        {stale.value && shown && <p class="last">Last valid run</p>}
        {shown && <Summary run={shown} />}
        {shown && <WindowsOfRun run={shown} />}
      </div>
      <div class={stale.value ? "rest stale" : "rest"}>
        {shown && <OtherPlots run={shown} />}
        {shown && <FlowTable run={shown} />}
        {shown && <Why pairs={pairsWithin(shown)} />}
      </div>
    </main>
  );
}
