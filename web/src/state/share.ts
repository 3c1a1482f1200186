/** The address holds the scenario: TOML, deflated, in base64url after `s=`; and the comparison. */

import { effect, signal, untracked } from "@preact/signals";
import { change, changed, differ } from "./comparison";
import { exampleFiles } from "./examples";
import { read, route } from "./route";
import { dragging } from "./runs";
import { files, open, toml } from "./scenario";

async function through(
  bytes: Uint8Array,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const piped = new Blob([bytes as BlobPart]).stream().pipeThrough(stream as ReadableWritablePair);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

/** A text as a part of an address. */
export async function encode(text: string): Promise<string> {
  const packed = await through(
    new TextEncoder().encode(text),
    new CompressionStream("deflate-raw"),
  );
  const binary = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The text of a part of an address; null where it is damaged. */
export async function decode(part: string): Promise<string | null> {
  try {
    const binary = atob(part.replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(binary, (char) => char.charCodeAt(0));
    const whole = new TextDecoder("utf-8", { fatal: true });
    return whole.decode(await through(packed, new DecompressionStream("deflate-raw")));
  } catch {
    return null;
  }
}

interface Payload {
  toml: string;
  files: Record<string, string>;
}

/** What an address holds: a scenario alone, or with files that only it has. No TOML begins with {. */
function payload(): string {
  const named = Object.entries(files.value).filter(
    ([name, text]) => toml.value.includes(name) && exampleFiles[name] !== text,
  );
  return named.length
    ? JSON.stringify({ toml: toml.value, files: Object.fromEntries(named) })
    : toml.value;
}

/** What follows `?` in the address of a view: the scenario, and what Compare changes in it. */
async function query(view: string): Promise<string> {
  const held = new URLSearchParams({ s: await encode(payload()) });
  if (view === "compare" && change.value) {
    held.set("change", change.value.path.join("."));
    held.set("to", String(changed.value));
  }
  return held.toString();
}

/** The address of a view with the scenario of the page. */
export async function address(view: string): Promise<string> {
  return `${location.href.replace(/#.*$/, "")}#/${view}?${await query(view)}`;
}

/** What `payload` held; null where it is damaged. */
async function unpacked(part: string): Promise<Payload | null> {
  const text = await decode(part);
  if (!text?.startsWith("{")) return text === null ? null : { toml: text, files: {} };
  try {
    const { toml, files = {} } = JSON.parse(text) as Partial<Payload>;
    return typeof toml === "string" ? { toml, files } : null;
  } catch {
    return null;
  }
}

let shown = "";

/** Whether the address that was opened last holds no scenario where it should. */
export const isDamaged = signal(false);

/** Opens the scenario of the address, if it has one; says whether it did. */
async function openAddress(): Promise<boolean> {
  const held = route.value.query;
  const part = held.get("s");
  if (held.toString() === shown) return false;
  isDamaged.value = false;
  if (part === null) return false;
  const found = await unpacked(part);
  isDamaged.value = found === null;
  if (found === null) return false;
  shown = held.toString();
  open(found.toml, { ...exampleFiles, ...found.files });
  const [key, to] = [held.get("change"), held.get("to")];
  if (key !== null && to !== null)
    differ(
      key.split(".").map((name) => (/^\d+$/.test(name) ? Number(name) : name)),
      /^\d+$/.test(to) ? Number(to) : to,
    );
  return true;
}

/** Views whose address holds the page's scenario. */
const HOLDERS = new Set(["build", "look", "compare", "share"]);

/** Keeps the address and the scenario alike; opens `otherwise` where the address has none. */
export async function keepAddress(otherwise: string): Promise<void> {
  if (!(await openAddress())) open(otherwise, exampleFiles);
  addEventListener("hashchange", () => void openAddress());
  let latest = 0;
  effect(() => {
    const { view } = route.value;
    void [toml.value, change.value, changed.value];
    if (dragging.value || !HOLDERS.has(view)) return;
    const number = ++latest;
    void untracked(() => query(view)).then((held) => {
      // Another view may have been opened meanwhile.
      if (number !== latest || read().view !== view) return;
      shown = held;
      history.replaceState(null, "", `#/${view}?${held}`);
    });
  });
}
