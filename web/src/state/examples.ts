/** Scenarios to start from: the repository's examples, and the one the page opens with. */

const texts = import.meta.glob<string>("../../../examples/*.toml", {
  query: "?raw",
  import: "default",
  eager: true,
});
const traces = import.meta.glob<string>("../../../examples/*.down", {
  query: "?raw",
  import: "default",
  eager: true,
});

const nameOf = (path: string) => path.replace(/^.*\//, "");

/** Files that examples name. */
export const exampleFiles: Record<string, string> = Object.fromEntries(
  Object.entries(traces).map(([path, text]) => [nameOf(path), text]),
);

/** Examples of `cwndlab run`, by name: no sweeps, no live runs, no rules in Python. */
export const examples: Record<string, string> = Object.fromEntries(
  Object.entries(texts)
    .map(([path, text]): [string, string] => [nameOf(path).replace(/\.toml$/, ""), text])
    .filter(([name]) => !/^(sweep|live)-|^custom-rule$/.test(name)),
);

/** What the page opens with. */
export const START = `# Two AIMD flows share one link. The second starts later: the shares converge (Chiu and Jain 1989).
name = "two-flows"
duration = "60s"
measure = ["20s", "60s"]

[dumbbell]
rate = "10Mbit"
delay = "25ms"
queue = { kind = "drop-tail", limit = "1bdp" }

[[flows]]
name = "first"
rule = "AIMD(1, 0.5)"
recovery = "sack"

[[flows]]
name = "second"
rule = "AIMD(1, 0.5)"
recovery = "sack"
start = "10s"
`;
