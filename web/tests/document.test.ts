/** Edits of a scenario's text, quantities, and faults of rules. */

import { expect, test } from "vitest";
import { at, parseDocument, withValue } from "../src/state/document";
import { parseRate, parseTime, rateText, timeText } from "../src/state/quantities";

const TEXT = `# Two lines that stay,
# whatever a control edits.
duration = "60s"

[dumbbell]
rate = "10Mbit"
queue = { kind = "red", limit = "1bdp" }

[[flows]]
rule = 'Rule(inc="1/w", dec="w/2")'
start = ["0s", "1s"]

[[flows]]
rule = "CUBIC"
`;

test("an edit changes one value and nothing else", () => {
  const edited = withValue(TEXT, ["dumbbell", "queue", "limit"], "2bdp");
  expect(edited.startsWith("# Two lines that stay,\n# whatever a control edits.\n")).toBe(true);
  const expected = parseDocument(TEXT.replace("1bdp", "2bdp"));
  expect(parseDocument(edited)).toEqual(expected);
  expect(edited).toContain('queue = { kind = "red", limit = "2bdp" }');
});

test("an edit adds what is not there, and removes", () => {
  const added = withValue(TEXT, ["tcp", "ecn"], true);
  expect(at(parseDocument(added), ["tcp", "ecn"])).toBe(true);
  expect(parseDocument(withValue(added, ["tcp"], undefined))).toEqual(parseDocument(TEXT));
  const fewer = parseDocument(withValue(TEXT, ["flows", 0], undefined));
  expect(at(fewer, ["flows"])).toEqual([{ rule: "CUBIC" }]);
});

test("a text that is no TOML is left alone", () => {
  expect(withValue("duration =", ["duration"], "1s")).toBe("duration =");
});

test("quantities", () => {
  expect([
    parseRate("10Mbit"),
    parseRate("10 Mb/s"),
    parseRate("1.5Gbit/s"),
    parseRate(1e6),
  ]).toEqual([1e7, 1e7, 1.5e9, 1e6]);
  expect([parseTime("25ms"), parseTime("2min"), parseTime("10Mbit"), parseTime(["0s"])]).toEqual([
    0.025,
    120,
    null,
    null,
  ]);
  expect([rateText(1.234e7), rateText(5e5), timeText(0.0255), timeText(90), timeText(0)]).toEqual([
    "12.3Mbit",
    "500kbit",
    "25.5ms",
    "90s",
    "0s",
  ]);
});
