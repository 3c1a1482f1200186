/** Lessons, the game and the teacher's page, as a student and a teacher use them. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lessons } from "../src/lessons/lesson";
import { missing, overflow, PageUnderTest, violations } from "./browser";

const under = new PageUnderTest();

/** Lets the page's clock run until something is so. */
async function until(page: Page, isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await page.clock.runFor(100);
}

/** A game whose clock the test moves: how busy the machine is makes no difference. */
async function startGame(opponent: string) {
  const page = await under.open("#/game");
  await page.getByLabel("Opponent").selectOption(opponent);
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
  await page.getByRole("button", { name: "Start" }).click();
  await until(page, async () => (await page.locator(".clock").count()) > 0);
  const begin = await page.evaluate(() => performance.now());
  let passedS = 0;
  /** Moves the clock so many seconds on, counted from the start of the game. */
  const pass = async (seconds: number) => {
    passedS += seconds;
    const nowMs = await page.evaluate(() => performance.now());
    for (let ms = nowMs; ms < begin + passedS * 1e3; ms += 100) await page.clock.runFor(100);
  };
  return { page, pass };
}

describe.skipIf(missing)(`in a browser${missing && ` (${missing})`}`, () => {
  beforeAll(() => under.start());
  afterAll(() => under.stop());

  test("a lesson from start to end, with the keyboard alone", async () => {
    const page = await under.open("#/lessons");
    await page.getByRole("link", { name: lessons[0]!.title }).focus();
    await page.keyboard.press("Enter");
    for (const step of lessons[0]!.steps) {
      await page.getByRole("heading", { level: 3, name: step.title }).waitFor();
      const show = page.getByRole("button", { name: "Show the run" });
      expect(await show.isDisabled()).toBe(true);
      expect(await page.locator(".findings").count()).toBe(0);
      await page.getByRole("radio").first().focus();
      for (let choice = 1; choice < step.predict.right; choice += 1)
        await page.keyboard.press("ArrowDown");
      if (step.predict.right === 1) await page.keyboard.press("Space");
      await page.keyboard.press("Enter");
      await page.getByText("Your prediction is right.").waitFor();
      // The value that the page shows is the run's, so it is there once the run is complete.
      await page.locator(".findings td", { hasText: /\d/ }).first().waitFor();
      await page.locator(".step-plots .plot").first().waitFor();
      await page.getByRole("link", { name: /^Next/ }).focus();
      await page.keyboard.press("Enter");
    }
    await page.getByRole("heading", { level: 3, name: "Questions" }).waitFor();
    await page.getByText("Solution").first().focus();
    await page.keyboard.press("Enter");
    await page.getByText(lessons[0]!.questions[0]!.solution).waitFor();
    await page.getByRole("link", { name: `Next lesson: ${lessons[1]!.title}` }).click();
    await page.getByRole("heading", { level: 2, name: lessons[1]!.title }).waitFor();
    await page.close();
  });

  test("a wrong prediction is told, and the network opens in Build", async () => {
    const page = await under.open("#/lessons/4/2");
    await page.getByRole("radio").first().check();
    await page.getByRole("button", { name: "Show the run" }).click();
    await page.getByText("The run says otherwise").waitFor();
    // Who goes to another step and back finds the prediction and the run.
    await page.getByRole("link", { name: /^Next/ }).click();
    expect(await page.getByRole("button", { name: "Show the run" }).isDisabled()).toBe(true);
    await page.goBack();
    await page.getByText("The run says otherwise").waitFor();
    await page.getByText("Measured from 20 s to 60 s of this run").waitFor();
    expect(await page.locator(".step-plots .legend").textContent()).not.toMatch("ping NewReno");
    await page.getByRole("link", { name: "Change this network in Build" }).click();
    expect(new URL(page.url()).hash).toMatch(/^#\/build/);
    await page.waitForFunction(() => document.body.textContent?.includes("download"));
    await page.close();
  });

  test("names of flows in the right answer are code; bands and marks have a legend", async () => {
    const page = await under.open("#/lessons/8/1");
    await page.getByRole("radio").first().check();
    await page.getByRole("button", { name: "Show the run" }).click();
    const verdict = page.locator(".verdict");
    expect(await verdict.locator("code").first().innerText()).toBe("greedy");
    expect(await verdict.innerText()).not.toContain("`");
    await page.goto(page.url().replace("8/1", "2/1"));
    await page.getByRole("radio").first().check();
    await page.getByRole("button", { name: "Show the run" }).click();
    const legend = page.locator(".step-plots .phases");
    for (const label of ["slow start", "recovery", "dropped packet", "timeout"])
      await legend.getByText(label).waitFor();
    await page.close();
  });

  test("ten seconds of the game: keys steer cwnd, and the simulated clock runs", async () => {
    const { page, pass } = await startGame("NewReno");
    for (let press = 0; press < 5; press += 1) await page.keyboard.press("ArrowUp");
    await pass(1);
    expect(await page.locator(".window").textContent()).toBe("15 packets");
    await page.keyboard.press("Space");
    await pass(1);
    expect(await page.locator(".window").textContent()).toBe("8 packets");
    await page.getByRole("button", { name: "One packet more" }).click();
    await pass(8);
    expect(await page.locator(".window").textContent()).toBe("9 packets");
    expect(await page.locator(".clock").textContent()).toBe("20 s left");
    const goodput = page.locator(".figures dd", { hasText: /[1-9].* Mbit\/s/ });
    await until(page, async () => (await goodput.count()) > 0);
    await page.close();
  });

  test("a whole game ends with a score, and its link gives the same score and hash", async () => {
    const { page, pass } = await startGame("CUBIC");
    for (let press = 0; press < 6; press += 1) await page.keyboard.press("ArrowUp");
    await pass(30);
    const card = page.getByRole("region", { name: "Score" });
    await until(page, async () => (await card.count()) > 0);
    const told = async () => [
      await card.locator(".points").textContent(),
      await card.locator("code").textContent(),
    ];
    const played = await told();
    expect(played[1]).toMatch(/^[0-9a-f]{16}$/);
    await page.clock.resume();
    await card.getByRole("link", { name: "this game's link" }).click();
    await page.getByText("This game was played against CUBIC.").waitFor();
    await card.waitFor();
    expect(await told()).toEqual(played);
    await page.close();
  });

  test.each([
    "#/lessons",
    "#/lessons/1/3",
    "#/lessons/10/1",
    "#/lessons/2/5",
    "#/game",
    "#/teacher",
  ])("%s has no violation of axe-core and fits a phone", async (hash) => {
    for (const theme of ["light", "dark"] as const) {
      const page = await under.open(hash, { width: 390, colorScheme: theme });
      await page.getByRole("heading", { level: 2 }).waitFor();
      const choice = page.getByRole("radio").first();
      if (await choice.count()) {
        await choice.check();
        await page.getByRole("button", { name: "Show the run" }).click();
        await page.locator(".findings td", { hasText: /\d/ }).first().waitFor();
      }
      expect(await violations(page)).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      await page.close();
    }
  });

  test("a link that holds no game says so", async () => {
    const page = await under.open("#/game?against=CUBIC&inputs=nonsense");
    await page.getByText("This link does not hold a valid game.").waitFor();
    await page.close();
  });
});
