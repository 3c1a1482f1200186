/** A text to copy. */

import { useState } from "preact/hooks";

export function Copied({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState(false);
  return (
    <div class="copied">
      <input
        class="mono"
        readonly
        value={text}
        aria-label={label}
        onFocus={(event) => event.currentTarget.select()}
      />
      <button
        type="button"
        onClick={() => void navigator.clipboard.writeText(text).then(() => setDone(true))}
      >
        {done ? "Copied" : "Copy"}
      </button>
    </div>
  );
}
