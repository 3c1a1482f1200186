// Takes the pictures of docs/studio.md and docs/lessons from the built page: node pictures.js FOLDER
import { mkdirSync } from "node:fs";
import { drag, withPage } from "./open.js";

const [folder] = process.argv.slice(2);
if (!folder) throw new Error("FOLDER: nothing is not valid: expected a folder for the pictures");
mkdirSync(`${folder}/drag`, { recursive: true });
const shoot = (page, name) => page.screenshot({ path: `${folder}/studio-${name}.png` });

/** Moves the time of the Look view into the run, and chooses the next packet. */
async function lookAt(page, share) {
  const seek = page.getByLabel("Time, seconds");
  await seek.evaluate((input, share) => {
    input.value = String(Number(input.max) * share);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, share);
  await page.getByRole("button", { name: "packet ›, forward" }).click();
}

/** Opens why the flow with another rule got more or less. */
async function explain(page) {
  await page.getByLabel("Compare by:").selectOption({ label: "Rule of second" });
  await page.locator(".why > summary").click();
  await page.locator(".parts").waitFor();
  await page.locator("footer.page").evaluate((footer) => footer.remove());
}

/** Answers the first prediction of the first lesson, and shows its run. */
async function answer(page) {
  await page.getByRole("radio").nth(1).check();
  await page.getByRole("button", { name: "Show the run" }).click();
  await page.locator(".findings td", { hasText: /\d/ }).first().waitFor();
}

/** Plays a game against CUBIC: packets more or fewer, every few seconds. */
async function play(page) {
  await page.getByLabel("Opponent").selectOption("CUBIC");
  await page.getByRole("button", { name: "Start" }).click();
  await page.locator(".clock").waitFor();
  for (const [seconds, key, presses] of [
    [2, "ArrowUp", 8],
    [4, "ArrowUp", 4],
    [5, "Space", 1],
    [3, "ArrowUp", 9],
  ]) {
    await page.waitForTimeout(seconds * 1e3);
    for (let press = 0; press < presses; press += 1) await page.keyboard.press(key);
  }
  await page.getByRole("region", { name: "Score" }).waitFor();
}

await withPage(async (open) => {
  for (const [name, hash, show] of [
    ["lesson", "#/lessons/1/1", answer],
    ["game", "#/game", play],
  ]) {
    const page = await open("", { viewport: { width: 1000, height: 900 } });
    await page.evaluate((hash) => (location.hash = hash), hash);
    await show(page);
    await page.waitForTimeout(500);
    await shoot(page, name);
    await page.close();
  }
  for (const [suffix, options] of [
    ["", {}],
    ["-dark", { colorScheme: "dark" }],
    ["-phone", { viewport: { width: 390, height: 844 } }],
  ]) {
    for (const view of ["build", "look", "compare", "share"]) {
      const page = await open(`#/${view}`, options);
      if (view === "look") await lookAt(page, 1 / 3);
      if (view === "compare") await page.locator("table.metrics").waitFor();
      await page.waitForTimeout(300);
      await shoot(page, `${view}${suffix}`);
      await page.close();
    }
  }
  const why = await open("#/compare", { viewport: { width: 1000, height: 900 } });
  await explain(why);
  await why.waitForTimeout(300);
  await why.locator(".why").screenshot({ path: `${folder}/studio-why.png` });
  const page = await open("", { viewport: { width: 1000, height: 560 } });
  let frame = 0;
  const keep = () =>
    page.screenshot({ path: `${folder}/drag/${String(frame++).padStart(2, "0")}.png` });
  const afterStep = async () => {
    await page.waitForTimeout(150);
    await keep();
  };
  await keep();
  await drag(page, "Buffer", 0.63, 0.25, 14, afterStep);
  await drag(page, "Buffer", 0.25, 0.63, 14, afterStep);
});
