// Measures the built page in headless Chromium: when it is ready, and redraws a second during a drag.
import { loadavg } from "node:os";
import { deflateRawSync } from "node:zlib";
import { drag, withPage } from "./open.js";

const TEN_FLOWS = `duration = "60s"
[dumbbell]
rate = "20Mbit"
delay = "25ms"
queue = { kind = "drop-tail", limit = "1bdp" }
[[flows]]
count = 10
rule = "AIMD(1, 0.5)"
start = ["0s", "2s"]
`;
const RUNS = 5;
const STEPS = 20;
const median = (values) => values.toSorted((one, other) => one - other)[values.length >> 1];

await withPage(async (open) => {
  const times = [];
  for (let run = 0; run < RUNS; run += 1) {
    const page = await open("");
    times.push(
      await page.evaluate(() => ({
        paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN,
        ready: performance.getEntriesByName("redraw")[0].startTime,
      })),
    );
    await page.close();
  }
  const page = await open(`#/build?s=${deflateRawSync(TEN_FLOWS).toString("base64url")}`);
  const rates = [];
  for (let run = 0; run < RUNS; run += 1) {
    const begin = await page.evaluate(() => (performance.clearMarks("redraw"), performance.now()));
    await drag(page, "Buffer", 0.2, 0.8, STEPS, () => page.waitForTimeout(50));
    rates.push(
      await page.evaluate(
        (begin) =>
          (1000 * performance.getEntriesByName("redraw").length) / (performance.now() - begin),
        begin,
      ),
    );
    await page.waitForTimeout(1000);
  }
  console.log(`load of the machine ${loadavg()[0].toFixed(1)}; medians of ${RUNS}`);
  console.log(
    `first paint ${median(times.map(({ paint }) => paint)).toFixed(0)} ms after navigation`,
  );
  console.log(
    `first run drawn ${median(times.map(({ ready }) => ready)).toFixed(0)} ms after navigation`,
  );
  console.log(
    `drag of ${STEPS} steps, ten flows over 60 s: ${median(rates).toFixed(1)} redraws a second`,
  );
});
