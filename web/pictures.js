// Takes the pictures of docs/studio.md from the built page: node pictures.js FOLDER
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

await withPage(async (open) => {
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
