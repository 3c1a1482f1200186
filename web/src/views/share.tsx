/** Share: the address, the scenario for the command line, and exports. */

import { useEffect, useState } from "preact/hooks";
import type { Run } from "../engine/protocol";
import { Copied } from "../parts/copied";
import { OnDisk } from "../parts/on_disk";
import { goodputPanel, queuePanel, rttPanel, windowPanel } from "../plots/panels";
import { pngOf, svgOf } from "../plots/svg";
import { change, changed } from "../state/comparison";
import { textAt } from "../state/document";
import { exampleFiles } from "../state/examples";
import { run } from "../state/runs";
import { files, scenario, toml } from "../state/scenario";
import { address } from "../state/share";

function save(name: string, content: Blob | string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(
    content instanceof Blob ? content : new Blob([content], { type: "text/plain" }),
  );
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function svg(shown: Run): string {
  const { name, duration_s, seed, trace_hash } = shown.result;
  const panels = [windowPanel(shown), goodputPanel(shown), queuePanel(shown), rttPanel(shown)];
  return svgOf(panels, duration_s, `${name}, seed ${seed}, trace hash ${trace_hash}, cwndlab`);
}

/** The window trace, with the columns of `cwndlab run --csv`. */
function csv({ columns, result }: Run): string {
  const names = ["time_s", "cwnd_packets", "ssthresh_packets", "srtt_s", "outstanding_packets"];
  const values = names.map((name) => columns[`windows.${name}`] as Float64Array);
  const flows = columns["windows.flow"] as Uint32Array;
  const rows = Array.from(flows, (flow, row) =>
    [result.flows[flow]?.flow, ...values.map((column) => column[row])].join(","),
  );
  return ["flow," + names.join(","), ...rows].join("\n") + "\n";
}

export function Share() {
  const [links, setLinks] = useState(["", ""]);
  const key = change.value;
  useEffect(
    () => void Promise.all([address("build"), address("compare")]).then(setLinks),
    [toml.value, files.value, key, changed.value],
  );
  const shown = run.value;
  const name = textAt(scenario.value, ["name"], "scenario");
  const named = Object.entries(files.value).filter(([file]) => toml.value.includes(file));
  return (
    <main class="share">
      <section>
        <h2>Link</h2>
        <p>It holds the whole scenario; nothing is stored anywhere else.</p>
        <Copied text={links[0] ?? ""} label="Link to this scenario" />
        <OnDisk link={links[0] ?? ""} />
        {key && String(changed.value) !== textAt(scenario.value, key.path) && (
          <>
            <p>
              The comparison by {key.label}, with {String(changed.value)} on the right:
            </p>
            <Copied text={links[1] ?? ""} label="Link to the comparison" />
            <OnDisk link={links[1] ?? ""} />
          </>
        )}
      </section>
      <section>
        <h2>On the command line</h2>
        <p>The same file gives the same packets and so the same trace hash.</p>
        <Copied text={`cwndlab run ${name}.toml`} label="Command line" />
        <p>
          <button type="button" onClick={() => save(`${name}.toml`, toml.value)}>
            Save {name}.toml
          </button>{" "}
          {named.map(([file, text]) => (
            <button key={file} type="button" onClick={() => save(file, text)}>
              Save {file}
              {exampleFiles[file] === text ? "" : " (yours)"}
            </button>
          ))}
        </p>
        {shown?.complete && (
          <p>
            trace hash <span class="mono">{shown.result.trace_hash}</span>
          </p>
        )}
        <pre class="text" tabIndex={0} aria-label="Scenario, TOML">
          {toml.value}
        </pre>
      </section>
      {shown?.complete && (
        <section>
          <h2>Figures and data</h2>
          <p>
            <button
              type="button"
              onClick={() => save(`${name}.svg`, new Blob([svg(shown)], { type: "image/svg+xml" }))}
            >
              SVG
            </button>{" "}
            <button
              type="button"
              onClick={() => void pngOf(svg(shown)).then((blob) => save(`${name}.png`, blob))}
            >
              PNG
            </button>{" "}
            <button type="button" onClick={() => save(`${name}.csv`, csv(shown))}>
              Window data (CSV)
            </button>{" "}
            <button
              type="button"
              onClick={() => save(`${name}.json`, JSON.stringify(shown.result, null, 2))}
            >
              Result (JSON)
            </button>
          </p>
        </section>
      )}
    </main>
  );
}
