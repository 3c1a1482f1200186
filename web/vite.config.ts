import { defineConfig } from "vitest/config";

const HANG_MS = 300_000;

export default defineConfig({
  // Any folder of any server holds the page.
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    license: { fileName: "licences.md" },
    rolldownOptions: { output: { codeSplitting: false } },
  },
  // Tests in a browser share the two cores with it. The limit only ends what would hang for ever.
  test: {
    include: ["tests/**/*.test.ts"],
    fileParallelism: false,
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    expect: { poll: { timeout: HANG_MS } },
  },
});
