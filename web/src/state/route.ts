/** The view that the address names, `#/look`; what follows `/` or `?` belongs to the view. */

import { signal } from "@preact/signals";

/** What the address says now; `route` follows a moment later. */
export function read(): { view: string; rest: string[]; query: URLSearchParams } {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [view, ...rest] = path.split("/");
  return { view: view || "build", rest, query: new URLSearchParams(query) };
}

export const route = signal(read());
addEventListener("hashchange", () => (route.value = read()));
