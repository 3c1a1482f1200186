/** The scenario as text: what all controls edit, and where any scenario can be pasted or dropped. */

import { useState } from "preact/hooks";
import { exampleFiles } from "../state/examples";
import { open, toml } from "../state/scenario";

/** Opens dropped or chosen files: one scenario, and the files that it names. */
export async function openFiles(list: FileList | File[]): Promise<void> {
  const texts = await Promise.all(
    [...list].map(async (file) => [file.name, await file.text()] as const),
  );
  const scenario = texts.find(([name]) => name.endsWith(".toml"));
  const others = Object.fromEntries(texts.filter((entry) => entry !== scenario));
  open(scenario?.[1] ?? toml.value, { ...exampleFiles, ...others });
}

export function Source() {
  const [isOver, setOver] = useState(false);
  return (
    <details
      class={isOver ? "source over" : "source"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (event.dataTransfer) void openFiles(event.dataTransfer.files);
      }}
    >
      <summary>Scenario as TOML</summary>
      <textarea
        class="mono"
        aria-label="Scenario, TOML"
        spellcheck={false}
        rows={24}
        value={toml.value}
        onInput={(event) => (toml.value = event.currentTarget.value)}
      />
      <label class="file">
        Open files: a scenario, and traces that it names
        <input
          type="file"
          multiple
          accept=".toml,.down,.up,.csv,.txt"
          onChange={(event) => void openFiles(event.currentTarget.files ?? [])}
        />
      </label>
    </details>
  );
}
