/** The built page in headless Chromium. Where there is no Chromium or no build, tests skip. */

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium, type Browser, type Page } from "playwright-core";
import { preview, type PreviewServer } from "vite";
import { expect } from "vitest";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const DIST = new URL("../dist/index.html", import.meta.url);

/** Why the page cannot be opened here; empty where it can. */
export const missing = !existsSync(CHROMIUM)
  ? `no Chromium at ${CHROMIUM}`
  : !existsSync(DIST)
    ? "no web/dist: run make web"
    : "";

/** How a page is opened. */
interface Opening {
  /** Of the window, pixels. */
  width?: number;
  colorScheme?: "light" | "dark";
  /** What the server answers instead, by pattern of the address. */
  answers?: Record<string, { status: number; body?: string }>;
}

/** A server on loopback and a browser, for the tests of one file. */
export class PageUnderTest {
  private server?: PreviewServer;
  private browser?: Browser;

  async start(): Promise<void> {
    this.server = await preview({ preview: { port: 0, host: "127.0.0.1" }, logLevel: "silent" });
    this.browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  }

  async stop(): Promise<void> {
    await this.browser?.close();
    await this.server?.close();
  }

  /** The page at an address, `#/lessons`. An error of the page fails the test. */
  async open(
    hash: string,
    { width = 1400, colorScheme = "light", answers = {} }: Opening = {},
  ): Promise<Page> {
    const address = this.server?.resolvedUrls?.local[0];
    if (!this.browser || !address) throw new Error("the page is not started");
    const page = await this.browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    // A busy machine is no failure.
    page.setDefaultTimeout(300_000);
    page.on("pageerror", (error) => expect.fail(`the page failed: ${error.message}`));
    for (const [pattern, answer] of Object.entries(answers))
      await page.route(pattern, (route) => route.fulfill(answer));
    await page.goto(`${address}${hash}`);
    return page;
  }
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds wrong with a page: contrast, names, roles, order of headings. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const found = await axe.run();
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  });
}

/** Pixels by which a page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}
