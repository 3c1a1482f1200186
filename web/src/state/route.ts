/** The view that the address names, `#/look`; what follows `?` belongs to the view. */

import { signal } from "@preact/signals";

function read(): { view: string; query: URLSearchParams } {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { view: path.split("/")[0] || "build", query: new URLSearchParams(query) };
}

export const route = signal(read());
addEventListener("hashchange", () => (route.value = read()));
