// Lists what the page is made of and under which licence: the packages that its code comes from.
import { readFileSync, writeFileSync } from "node:fs";

const here = new URL("./", import.meta.url);
const lock = JSON.parse(readFileSync(new URL("package-lock.json", here)));
const rows = Object.entries(lock.packages)
  .filter(([path, entry]) => path && !entry.optional)
  .map(([path, entry]) => [
    path.replace(/^.*node_modules\//, ""),
    entry.version,
    entry.license,
    !entry.dev,
  ]);
const table = (inPage) =>
  rows
    .filter((row) => row[3] === inPage)
    .map(([name, version, licence]) => `| ${name} | ${version} | ${licence} |`)
    .join("\n");
const head = "| package | version | licence |\n| --- | --- | --- |\n";
writeFileSync(
  new URL("LICENCES.md", here),
  `# Licences of what the studio uses\n\n\`npm run licences\` writes this list from package-lock.json.\n\n` +
    `## In the page\n\n${head}${table(true)}\n\n## For building and testing only\n\n${head}${table(false)}\n`,
);
