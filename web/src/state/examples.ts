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

/** What the list calls them; an example without a title goes by its name. */
const TITLES: Record<string, string> = {
  "two-flows": "Two AIMD flows",
  "cubic-against-reno": "CUBIC against Reno",
  "one-flow-sawtooth": "One flow: the sawtooth",
  "four-rules": "Four linear rules",
  aqm: "CoDel, five flows",
  cobalt: "COBALT against a flood",
  cake: "CAKE: half of the link for each host",
  l4s: "L4S: Prague and CUBIC",
  dctcp: "DCTCP: marks from K on",
  "random-loss": "Random loss",
  "square-wave": "Rate as a square wave",
  cellular: "A cellular link",
  policer: "A policer",
  wifi: "A busy Wi-Fi channel",
  asymmetric: "ACKs on a slow reverse link",
  reordering: "Half of the packets late",
  "misbehaving-receiver": "A receiver that divides ACKs",
  "request-response": "Requests beside a download",
  "web-traffic": "Web traffic",
  connections: "Connections of several responses",
  handover: "A phone changes its network",
  media: "A video call beside a download",
  nada: "NADA: video calls that follow a link",
  "fixed-rate-media": "Media of a fixed rate",
  "l4s-bbr": "L4S: BBR3 and ECN",
  "web-page": "Web pages beside a download",
  "adaptive-video": "Adaptive video beside downloads",
  convergence: "Convergence and starvation",
  "exact-drops": "Three exact drops",
  "parking-lot": "Parking lot of three links",
  ring: "Ring of five links",
  "second-topology": "Short flows as cross traffic",
  "rules-window": "Rules: one flow, lossy link",
  "rules-shared": "Rules: eight flows",
  "rules-unequal": "Rules: unequal round trips",
  "rules-square": "Rules: square wave",
  "rules-random": "Rules: random loss",
  "rules-marks": "Rules: marks (ECN)",
};

/** The title of a scenario; of an edited example, its title and that it is edited. */
export function titleOf(name: string): string {
  const origin = name.replace(/-edited$/, "");
  const title = TITLES[origin];
  return title === undefined ? name : origin === name ? title : `${title}, edited`;
}

/** Names and titles of what can be started from, in the order of the list. */
export function startingPoints(): [name: string, title: string][] {
  const all = Object.keys(examples);
  const names = Object.keys(TITLES).filter((name) => all.includes(name));
  return [...names, ...all.filter((name) => !names.includes(name))].map((name) => [
    name,
    titleOf(name),
  ]);
}

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

const CUBIC_AGAINST_RENO = `# CUBIC and Reno share one link of 50 Mbit/s: CUBIC grows with time, not with round trips.
name = "cubic-against-reno"
duration = "60s"
measure = ["10s", "60s"]

[dumbbell]
rate = "50Mbit"
delay = "40ms"
queue = { kind = "drop-tail", limit = "1bdp" }

[[flows]]
name = "cubic"
rule = "CUBIC"

[[flows]]
name = "reno"
rule = "NewReno"
`;

/** Scenarios by name: examples of `cwndlab run` without sweeps, live runs, QUIC and rules in Python. */
export const examples: Record<string, string> = {
  "two-flows": START,
  "cubic-against-reno": CUBIC_AGAINST_RENO,
  ...Object.fromEntries(
    Object.entries(texts)
      .map(([path, text]): [string, string] => [nameOf(path).replace(/\.toml$/, ""), text])
      .filter(([name]) => !/^(sweep|live|quic)-|^custom-rule$/.test(name)),
  ),
};
