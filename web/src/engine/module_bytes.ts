/** The bytes of the module: beside the page, or within it where the page is one file. */

/** The element of the one-file page that holds the module, gzip in base64; `pack.js` writes it. */
const ELEMENT = "simulator";

export async function moduleBytes(): Promise<ArrayBuffer> {
  const element = document.getElementById(ELEMENT);
  if (!element) {
    const answer = await fetch(new URL("simulator.wasm", document.baseURI));
    if (!answer.ok) throw new Error(`${answer.url}: ${answer.status} ${answer.statusText}`);
    return answer.arrayBuffer();
  }
  const packed = Uint8Array.from(atob(element.textContent.trim()), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
