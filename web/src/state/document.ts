/** A scenario as TOML, and edits of it by key that keep the comment at its head. */

import { parse, stringify, type TomlTable } from "smol-toml";

/** A place in a scenario: keys and indices, as in `["flows", 0, "rule"]`. */
export type Path = readonly (string | number)[];

/** A scenario as nested values. What is in it is checked by the simulator alone. */
export type Document = TomlTable;

/** The values of a text; null where it is no TOML. */
export function parseDocument(toml: string): Document | null {
  try {
    return parse(toml);
  } catch {
    return null;
  }
}

/** The value at a path; undefined where there is none. */
export function at(document: Document | null, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      value !== null && typeof value === "object"
        ? (value as Record<string, unknown>)[key]
        : undefined,
    document,
  );
}

/** The value at a path as text; `otherwise` where there is none. */
export function textAt(document: Document | null, path: Path, otherwise = ""): string {
  const value = at(document, path);
  return typeof value === "string" || typeof value === "number" ? String(value) : otherwise;
}

/** A text with the value at a path replaced; with `undefined`, removed. */
export function withValue(toml: string, path: Path, value: unknown): string {
  const document = parseDocument(toml);
  const [parent, last] = [path.slice(0, -1), path[path.length - 1]];
  if (!document || last === undefined) return toml;
  let table = document as Record<string | number, unknown>;
  for (const key of parent) {
    if (table[key] === null || typeof table[key] !== "object") table[key] = {};
    table = table[key] as Record<string | number, unknown>;
  }
  if (value === undefined && Array.isArray(table)) table.splice(Number(last), 1);
  else if (value === undefined) delete table[last];
  else table[last] = value;
  return headComment(toml) + print(document);
}

/** Comments and empty lines before the first key. */
export function headComment(toml: string): string {
  return /^(?:[ \t]*(?:#.*)?\r?\n)*/.exec(toml)?.[0] ?? "";
}

/** TOML as people write scenarios: small tables within a table are inline. */
export function print(document: Document): string {
  const lines: string[] = [];
  const tables: string[] = [];
  for (const [key, value] of Object.entries(document)) {
    const entries = Array.isArray(value) ? value : [value];
    if (!entries.length || !entries.every(isTable)) lines.push(`${key} = ${inline(value)}`);
    else
      for (const entry of entries) {
        const body = Object.entries(entry).map(
          ([name, part]) => `${quoted(name)} = ${inline(part)}`,
        );
        tables.push([Array.isArray(value) ? `[[${key}]]` : `[${key}]`, ...body].join("\n"));
      }
  }
  return [lines.join("\n"), ...tables].filter(Boolean).join("\n\n") + "\n";
}

function isTable(value: unknown): value is TomlTable {
  return (
    value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Date)
  );
}

function quoted(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (isTable(value)) {
    const entries = Object.entries(value).map(([key, part]) => `${quoted(key)} = ${inline(part)}`);
    return entries.length ? `{ ${entries.join(", ")} }` : "{}";
  }
  // Formulas have quotes: a literal string needs no escapes.
  if (typeof value === "string" && value.includes('"') && !/['\n]/.test(value)) return `'${value}'`;
  return stringify({ value } as TomlTable)
    .replace(/^value = /, "")
    .trimEnd();
}
