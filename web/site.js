// Looks at every page of the documentation site in headless Chromium, from disk and without a network:
//
//   node web/site.js SITE [PICTURES]
//
// On a wide screen and on a telephone: axe-core finds no violation, the page is not wider than the screen, no script
// fails, no file is missing. The landing page has at most 2 MB. With PICTURES a picture of each is left there.
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const WIDTHS = { wide: 1280, phone: 390 };
const MOST_LANDING_BYTES = 2e6;
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const [site, pictures, only] = process.argv.slice(2);

/** Pages of the site itself: not the studio, not copies of other files. */
function pages(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return /^(_static|_sources|docs)$/.test(entry.name) || /files\/.*docs/.test(path)
        ? []
        : pages(path);
    return entry.name.endsWith(".html") && entry.name !== "studio.html" ? [path] : [];
  });
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--allow-file-access-from-files"],
});
const faults = [];
const root = resolve(site);
let count = 0;
for (const path of pages(root)) {
  const name = relative(root, path).replace(/\.html$/, "");
  if (only && !new RegExp(only).test(name)) continue;
  count += 1;
  for (const [screen, width] of Object.entries(WIDTHS)) {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    const fault = (what) => faults.push(`${name} (${screen}): ${what}`);
    let bytes = 0;
    page.on("pageerror", (error) => fault(error.message));
    page.on("requestfailed", (request) => fault(`${request.url()} was not loaded`));
    page.on("request", (request) => {
      if (!/^(file|data|blob):/.test(request.url())) fault(`asks for ${request.url()}`);
      else if (request.url().startsWith("file:"))
        bytes +=
          statSync(fileURLToPath(request.url().replace(/[?#].*$/, "")), {
            throwIfNoEntry: false,
          })?.size ?? 0;
    });
    await page.goto(pathToFileURL(path).href, { waitUntil: "load" });
    if (name === "index" && bytes > MOST_LANDING_BYTES) fault(`${bytes} bytes: expected 2 MB`);
    if (name === "index" && screen === "wide") console.log(`landing page: ${bytes} bytes`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) fault(`${wide} pixels wider than the screen`);
    await page.evaluate(readFileSync(axe, "utf8"));
    // Rules of WCAG 2.1 A and AA.
    const found = await page.evaluate(() =>
      // eslint-disable-next-line no-undef
      axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }),
    );
    for (const violation of found.violations)
      fault(
        `${violation.id}: ${violation.nodes
          .slice(0, 2)
          .map((node) => node.html.slice(0, 120))
          .join(" | ")}`,
      );
    if (pictures) {
      const file = join(pictures, `${name.replaceAll("/", "-")}.${screen}.png`);
      mkdirSync(pictures, { recursive: true });
      await page.screenshot({ path: file });
    }
    await page.close();
  }
}
// What needs a script: the search, without a server, and the studio within the landing page.
const page = await browser.newPage();
await page.goto(`${pathToFileURL(join(root, "search.html")).href}?q=fq-codel`);
await page
  .waitForSelector("#search-results li")
  .catch(() => faults.push("search: nothing found for fq-codel"));
if (statSync(join(root, "studio.html")).size > 1e5) {
  await page.goto(pathToFileURL(join(root, "index.html")).href);
  await page.click("button[data-studio]");
  const frame = await (await page.waitForSelector(".studio iframe")).contentFrame();
  await frame
    .waitForFunction(() =>
      /^[0-9a-f]{16}$/.test(document.querySelector("footer output")?.textContent),
    )
    .catch(() => faults.push("index: the studio does not run in the page"));
}
await browser.close();
for (const fault of faults) console.error(fault);
console.log(`${count} pages at ${Object.keys(WIDTHS).length} widths: ${faults.length} faults`);
process.exit(faults.length ? 1 : 0);
