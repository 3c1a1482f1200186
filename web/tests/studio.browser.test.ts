/** The studio as its users have it: in headless Chromium, from a server and from disk. */

import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missing, overflow, PageUnderTest, violations } from "./browser";
import { missingNative, runNatively } from "./native";

const under = new PageUnderTest();
const VIEWS = ["build", "look", "compare", "share"] as const;

/** The trace hash of the page's scenario, once its run is complete; not `before`. */
async function hash(page: Page, before = ""): Promise<string> {
  const shown = page.locator("footer output");
  await expect
    .poll(async () => {
      const text = await shown.innerText();
      return /^[0-9a-f]{16}$/.test(text) && text !== before;
    })
    .toBe(true);
  return shown.innerText();
}

/** The scenario that the page holds. */
async function toml(page: Page): Promise<string> {
  return page.locator(".source textarea").inputValue();
}

describe.skipIf(missing)(`in a browser${missing && ` (${missing})`}`, () => {
  beforeAll(() => under.start());
  afterAll(() => under.stop());

  test.skipIf(missingNative)(
    "shows two flows at once, with the trace hash of the command line",
    async () => {
      const page = await under.open("");
      const shown = await hash(page);
      expect(await page.locator(".plot canvas").count()).toBeGreaterThanOrEqual(4);
      expect(shown).toBe(runNatively([await toml(page)])[0]!.trace_hash);
      await page.close();
    },
  );

  test("a slider changes the scenario; while it is dragged the plots follow", async () => {
    const page = await under.open("");
    const before = await hash(page);
    const slider = page.getByLabel("Buffer");
    const box = (await slider.boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.63, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2, { steps: 5 });
    const redraws = () => page.evaluate(() => performance.getEntriesByName("redraw").length);
    const drawn = await redraws();
    await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2, { steps: 5 });
    await expect.poll(redraws).toBeGreaterThan(drawn);
    await page.mouse.up();
    expect(await hash(page, before)).not.toBe(before);
    expect(await toml(page)).toMatch(/limit = "0\.\d+bdp"/);
    await page.close();
  });

  test("a formula with a fault is marked at its character, and runs once corrected", async () => {
    const page = await under.open("");
    const before = await hash(page);
    const rule = page.getByLabel("Rule").first();
    await rule.fill('Rule(inc="1/w+q", dec="w/2")');
    const fault = page.getByRole("alert");
    await fault.waitFor();
    expect(await fault.innerText()).toContain(
      'column 5: "q" is not known: expected w (packets), rtt or qdelay (seconds)',
    );
    expect(await fault.locator("mark").innerText()).toBe("q");
    // The run before stays until the formula is one, and is marked as the older one.
    await page.getByText("Last valid run", { exact: true }).waitFor();
    expect(await hash(page)).toBe(before);
    await rule.fill('Rule(inc="1/w", dec="w/2")');
    await fault.waitFor({ state: "detached" });
    await expect.poll(() => toml(page)).toContain(`rule = 'Rule(inc="1/w", dec="w/2")'`);
    await page.close();
  });

  test("the address holds the scenario", async () => {
    const page = await under.open("");
    const first = await hash(page);
    await page.getByRole("combobox", { name: "Queue" }).selectOption("codel");
    const second = await hash(page, first);
    await page.getByRole("link", { name: "Share" }).click();
    const address = page.getByLabel("Link to this scenario");
    await expect.poll(() => address.inputValue()).toMatch(/#\/build\?s=[\w-]+$/);
    const link = new URL(await address.inputValue());
    const other = await under.open(link.hash);
    expect(await hash(other)).toBe(second);
    expect(await toml(other)).toContain('kind = "codel"');
    await page.close();
    await other.close();
  });

  test("the link of a comparison holds what differs", async () => {
    const page = await under.open("#/compare");
    await hash(page);
    await page.getByLabel("Compare by:").selectOption({ label: "Rule of second" });
    await page.getByRole("link", { name: "Share" }).click();
    const link = page.getByLabel("Link to the comparison");
    await expect.poll(() => link.inputValue()).toContain("change=flows.1.rule&to=CUBIC");
    const other = await under.open(new URL(await link.inputValue()).hash);
    const head = other.locator("table.metrics thead");
    await expect.poll(() => head.innerText()).toContain("CUBIC compared with AIMD(1, 0.5)");
    await page.close();
    await other.close();
  });

  test("a new flow is a bulk download, whatever the last one is", async () => {
    const page = await under.open("");
    await hash(page);
    await page.getByLabel("Start from").selectOption("web-traffic");
    const legends = async () =>
      (await page.locator(".group legend").allInnerTexts()).map((text) =>
        text.trim().replace(/\s+/g, " "),
      );
    await expect.poll(legends).toEqual(["long bulk download"]);
    await page.getByText("Scenario as TOML").click();
    const responses = `responses = { size = 20, think = "1s" }`;
    const asked = (await toml(page)).replace(`name = "long"`, `name = "long"\n${responses}`);
    await page.getByLabel("Scenario, TOML").fill(asked);
    await page.getByRole("button", { name: "Add a flow" }).click();
    await expect.poll(legends).toEqual(["long request-response", "flow-2 bulk download"]);
    expect((await toml(page)).match(/responses/g)).toHaveLength(1);
    await page.close();
  });

  test("figures say which time they are of", async () => {
    const page = await under.open("");
    await hash(page);
    const said = page.locator(".measured");
    expect(await said.innerText()).toBe("Measured from 20 s to 60 s; the plots shade the rest");
    await page.getByText("Scenario as TOML").click();
    const text = await toml(page);
    const all = text.replace('measure = ["20s", "60s"]', 'measure = ["0s", "60s"]');
    await page.getByLabel("Scenario, TOML").fill(all);
    await expect.poll(() => said.innerText()).toBe("Measured from 0 s to 60 s");
    await page.close();
  });

  test("an edited example is no longer called by its name", async () => {
    const page = await under.open("");
    await hash(page);
    expect(await toml(page)).toContain("# Two AIMD flows");
    await page.getByRole("combobox", { name: "Queue" }).selectOption("codel");
    await expect.poll(() => toml(page)).toContain('name = "two-flows-edited"');
    expect(await toml(page)).not.toContain("#");
    await page.close();
  });

  test.each([
    { what: "no simulator", answer: { status: 404 } },
    // Some servers answer what they do not have with their first page.
    { what: "another file as simulator", answer: { status: 200, body: "<!doctype html>" } },
  ])("with $what every view says so, whenever it asks", async ({ answer }) => {
    const page = await under.open("", { answers: { "**/simulator.wasm": answer } });
    const said = page.getByRole("alert").filter({ hasText: "the simulator was not loaded" });
    await said.waitFor();
    await page.getByLabel("Rule").first().fill("Reno");
    await expect.poll(() => said.count()).toBe(2);
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByRole("heading", { name: "Compare by:" }).waitFor();
    await expect.poll(() => said.count()).toBe(2);
    await page.getByRole("link", { name: "Game" }).click();
    await page.getByRole("button", { name: "Start" }).click();
    await said.waitFor();
    await page.close();
  });

  test("a damaged address says so, and the page works all the same", async () => {
    const said = (page: Page) =>
      page.getByRole("alert").filter({ hasText: "This link is damaged" });
    const page = await under.open("");
    await hash(page);
    await expect.poll(() => new URL(page.url()).hash).toMatch(/s=/);
    const whole = new URL(page.url()).hash;
    await page.close();
    // Cut off, as mail programs do; nonsense; and packed JSON without a scenario: {"a":1}.
    for (const part of [
      whole.slice(0, -20),
      "#/build?s=AAAA",
      "#/build?s=",
      "#/build?s=q1ZKVLIyrAUA",
    ]) {
      const other = await under.open(part);
      await said(other).waitFor();
      await hash(other);
      await other.getByRole("link", { name: "Look" }).click();
      await said(other).waitFor({ state: "detached" });
      await other.close();
    }
    const intact = await under.open(whole);
    await hash(intact);
    expect(await said(intact).count()).toBe(0);
    await intact.close();
  });

  test("what is changed is undone and redone, a drag at once", async () => {
    const page = await under.open("");
    await hash(page);
    const first = await toml(page);
    const undo = page.getByRole("button", { name: "Undo" });
    const redo = page.getByRole("button", { name: "Redo" });
    expect(await undo.isDisabled()).toBe(true);
    const box = (await page.getByLabel("Buffer").boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.63, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2, { steps: 5 });
    await page.mouse.up();
    const dragged = await toml(page);
    expect(dragged).not.toBe(first);
    await page.getByLabel("Start from").selectOption("web-traffic");
    await expect.poll(() => toml(page)).toContain('name = "web-traffic"');
    await undo.click();
    await expect.poll(() => toml(page)).toBe(dragged);
    await page.keyboard.press("Control+z");
    await expect.poll(() => toml(page)).toBe(first);
    expect(await undo.isDisabled()).toBe(true);
    await redo.click();
    await expect.poll(() => toml(page)).toBe(dragged);
    await page.getByRole("combobox", { name: "Queue" }).selectOption("codel");
    await expect.poll(() => toml(page)).toContain("codel");
    expect(await redo.isDisabled()).toBe(true);
    await page.close();
  });

  test("a scenario is typed, and what is wrong with it said as on the command line", async () => {
    const page = await under.open("");
    const before = await hash(page);
    await page.getByText("Scenario as TOML").click();
    const text = await toml(page);
    await page.getByLabel("Scenario, TOML").fill(text.replace('delay = "25ms"', 'delay = "25m"'));
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("alert").innerText()).toContain(
      'dumbbell.delay: "25m" is not valid: expected',
    );
    await page.getByLabel("Scenario, TOML").fill(text.replace('delay = "25ms"', 'delay = "30ms"'));
    await hash(page, before);
    await page.close();
  });

  test("packets are stepped through, and tell their story", async () => {
    const page = await under.open("#/look");
    await hash(page);
    await page.getByRole("button", { name: "packet ›, forward" }).click();
    await page.locator(".story li").nth(3).waitFor();
    const story = await page.locator(".story").innerText();
    expect(story).toMatch(
      /sent with a window of[\s\S]*reached the queue[\s\S]*received[\s\S]*acknowledged up to/,
    );
    const at = page.locator(".player output");
    const begin = await at.innerText();
    await page.getByRole("button", { name: "Play" }).click();
    await expect.poll(() => at.innerText()).not.toBe(begin);
    await page.getByRole("button", { name: "Pause" }).click();
    // The mouse over a plot shows values there, and leaves the played time alone.
    const played = await at.innerText();
    const plot = page.locator(".plot .u-over").first();
    await plot.hover();
    await expect.poll(() => page.locator(".readout").first().innerText()).toMatch(/^\d+\.\d\d s/);
    expect(await at.innerText()).toBe(played);
    await plot.click();
    await expect.poll(() => at.innerText()).not.toBe(played);
    await page.close();
  });

  test("two settings differ in one key, and metrics explain themselves", async () => {
    const page = await under.open("#/compare");
    await page.locator("table.metrics").waitFor();
    const row = page.locator("tr", { hasText: "mean queueing delay" });
    expect(await row.innerText()).toContain("better");
    await row.locator("summary").click();
    await page.getByText("mean time from arrival to the start").waitFor();
    await page.getByLabel("Compare by:").selectOption({ label: "Buffer" });
    await expect.poll(() => page.locator("thead").innerText()).toContain("4bdp");
    await page.close();
  });

  test("why one side got more is told once it is asked, and again after a change", async () => {
    const page = await under.open("#/compare");
    await page.locator("table.metrics").waitFor();
    await page.getByLabel("Compare by:").selectOption({ label: "Rule of second" });
    await page.getByText("Why", { exact: true }).click();
    const headline = page.locator(".why .headline");
    await headline.waitFor();
    expect(await headline.innerText()).toMatch(
      /^second with AIMD\(1, 0\.5\) gets [\d.]+ Mbit\/s (more|less) than second with CUBIC: /,
    );
    const numbers = (await page.locator(".parts td:nth-child(3)").allInnerTexts()).map((text) =>
      Number(text.replace("−", "-")),
    );
    const difference = numbers.pop()!;
    const sum = numbers.reduce((sum, number) => sum + number, 0);
    // Each is rounded to three digits.
    expect(Math.abs(sum - difference)).toBeLessThan(0.02 * Math.max(...numbers.map(Math.abs)));
    await page.getByLabel("Explain:").selectOption({ label: "left, first against second" });
    await expect.poll(() => headline.innerText()).toMatch(/^first .* second/);
    await page.getByRole("link", { name: "Build" }).click();
    await page.getByText("Why", { exact: true }).click();
    await headline.waitFor();
    const before = await headline.innerText();
    await page.getByRole("combobox", { name: "Queue" }).selectOption("fq-codel");
    await expect.poll(() => headline.innerText()).not.toBe(before);
    await page.close();
  });

  test("figures and data are saved", async () => {
    const page = await under.open("#/share");
    await hash(page);
    for (const [name, begins] of [
      ["SVG", "<svg"],
      ["PNG", "\u0089PNG"],
      ["Window data (CSV)", "flow,time_s,cwnd_packets"],
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name, exact: true }).click(),
      ]);
      const chunks: Buffer[] = [];
      for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
      expect(Buffer.concat(chunks).toString("latin1").startsWith(begins), name).toBe(true);
    }
    await page.close();
  });

  test("the keyboard alone builds, looks and shares", async () => {
    const page = await under.open("");
    const before = await hash(page);
    const reach = async (label: RegExp) => {
      for (let presses = 0; presses < 80; presses += 1) {
        await page.keyboard.press("Tab");
        const name = await page.evaluate(() => {
          const focused = document.activeElement as HTMLInputElement | null;
          return (
            focused?.labels?.[0]?.textContent ?? focused?.ariaLabel ?? focused?.textContent ?? ""
          );
        });
        if (label.test(name)) return;
      }
      throw new Error(`not reached by Tab: ${label}`);
    };
    await reach(/^Round trip time/);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await hash(page, before);
    await page.reload();
    await reach(/^Look$/);
    await page.keyboard.press("Enter");
    await page.locator(".player").waitFor();
    await reach(/^packet ›, forward/);
    await page.keyboard.press("Enter");
    await page.locator(".story li").first().waitFor();
    await page.reload();
    await reach(/^Share$/);
    await page.keyboard.press("Enter");
    await reach(/^Link to this scenario/);
    await page.close();
  });

  test("one file opens from disk, offline, with the same result", async () => {
    const page = await under.open("");
    const expected = await hash(page);
    await page.context().setOffline(true);
    await page.goto(`file://${fileURLToPath(new URL("../dist/studio.html", import.meta.url))}`);
    expect(await hash(page)).toBe(expected);
    // Its link holds a path of this disk; the part from # on opens the scenario on a site.
    await page.getByRole("link", { name: "Share" }).click();
    await page.getByText("This link works on this computer only.").first().waitFor();
    const part = await page.getByLabel("Part of the link for any studio").first().inputValue();
    await page.context().setOffline(false);
    const other = await under.open(part);
    expect(await hash(other)).toBe(expected);
    await page.close();
    await other.close();
  });

  for (const view of VIEWS)
    for (const scheme of ["light", "dark"] as const)
      test(`${view}, ${scheme}: no violation of accessibility, no wider than a phone`, async () => {
        const page = await under.open(`#/${view}`, { width: 390, colorScheme: scheme });
        await hash(page);
        if (view === "compare") await page.locator("table.metrics").waitFor();
        if (["build", "compare"].includes(view)) {
          await page.getByText("Why", { exact: true }).click();
          await page.locator(".why .headline").waitFor();
        }
        expect(await overflow(page)).toBeLessThanOrEqual(0);
        expect(await violations(page)).toEqual([]);
        await page.close();
      });
});
