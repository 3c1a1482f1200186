// The built page in headless Chromium, for measurements and pictures.
import { chromium } from "playwright-core";
import { preview } from "vite";

/** Calls `action` with a function that opens the page at an address. */
export async function withPage(action) {
  const server = await preview({
    root: import.meta.dirname,
    preview: { port: 0, host: "127.0.0.1" },
    logLevel: "silent",
  });
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const address = server.resolvedUrls.local[0];
  try {
    await action(async (hash, options = {}) => {
      const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, ...options });
      await page.goto(`${address}${hash}`);
      await page.waitForFunction(() =>
        /^[0-9a-f]{16}$/.test(document.querySelector("footer output")?.textContent),
      );
      return page;
    });
  } finally {
    await browser.close();
    await server.close();
  }
}

/** Presses a slider and moves it in steps to a share of its width. */
export async function drag(page, label, from, to, steps, afterStep = async () => {}) {
  const slider = page.getByLabel(label, { exact: false }).first();
  await slider.scrollIntoViewIfNeeded();
  const box = await slider.boundingBox();
  const x = (share) => box.x + 8 + (box.width - 16) * share;
  await page.mouse.move(x(from), box.y + box.height / 2);
  await page.mouse.down();
  for (let step = 1; step <= steps; step += 1) {
    await page.mouse.move(x(from + ((to - from) * step) / steps), box.y + box.height / 2);
    await afterStep(step);
  }
  await page.mouse.up();
}
