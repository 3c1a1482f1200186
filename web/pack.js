// Makes dist/studio.html, the page as one file that opens from disk, and says what both weigh.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const DIST = new URL("dist/", import.meta.url);
const read = (name) => readFileSync(new URL(name, DIST));
const assets = readdirSync(new URL("assets/", DIST));
const text = (ending) => read(`assets/${assets.find((name) => name.endsWith(ending))}`).toString();

// Within an element its end tag would end it.
const script = text(".js").replaceAll("</script", "<\\/script");
const simulator = gzipSync(read("simulator.wasm"), { level: 9 }).toString("base64");
const page = read("index.html")
  .toString()
  .replace(/\s*<script type="module"[^>]*><\/script>/, "")
  .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${text(".css")}</style>`)
  .replace(
    "</body>",
    () =>
      `<script type="text/plain" id="simulator">${simulator}</script>\n` +
      `<script type="module">${script}</script>\n</body>`,
  );
// The licences of the libraries ask that their text travels with them.
const licences = read("licences.md").toString().replaceAll("--", "- -");
writeFileSync(new URL("studio.html", DIST), `${page}<!--\n${licences}-->\n`);

const parts = ["index.html", "simulator.wasm", ...assets.map((name) => `assets/${name}`)];
const brotli = (bytes) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }).length;
const sum = (weigh) => parts.reduce((total, name) => total + weigh(read(name)), 0);
const mb = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
console.log(`dist/: ${mb(sum((bytes) => bytes.length))}`);
console.log(
  `  compressed: ${mb(sum((bytes) => gzipSync(bytes).length))} gzip, ${mb(sum(brotli))} brotli`,
);
console.log(`dist/studio.html: ${mb(page.length)}, ${mb(gzipSync(page).length)} gzip`);
