/** Links of a page that was opened from a disk. */

import { expect, test } from "vitest";
import { partOnDisk } from "../src/parts/on_disk";

test("of a link with a path of this disk, the part from # on works elsewhere", () => {
  const link = "file:///D:/class/studio.html#/build?s=abc_-";
  expect(partOnDisk(link)).toBe("#/build?s=abc_-");
  expect(partOnDisk("https://example.org/studio.html#/build?s=abc_-")).toBe(null);
  expect(partOnDisk("http://127.0.0.1:8080/#/game?against=CUBIC")).toBe(null);
});
