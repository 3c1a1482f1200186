import { defineConfig } from "vitest/config";

export default defineConfig({
  // Any folder of any server holds the page.
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    rolldownOptions: { output: { codeSplitting: false } },
  },
  // Tests in a browser share the two cores with it.
  test: { include: ["tests/**/*.test.ts"], fileParallelism: false, testTimeout: 0, hookTimeout: 0 },
});
