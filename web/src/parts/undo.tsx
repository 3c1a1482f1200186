/** Undo and redo of the scenario, as buttons and by Ctrl+Z and Ctrl+Shift+Z. */

import { useEffect } from "preact/hooks";
import { canRedo, canUndo, redo, undo } from "../state/history";

/** Text boxes undo what is typed in them themselves. */
const TYPED = "textarea, input:not([type=range], [type=checkbox], [type=radio])";

function onKey(event: KeyboardEvent): void {
  const isUndo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
  if (!isUndo || (event.target as Element).matches(TYPED)) return;
  event.preventDefault();
  (event.shiftKey ? redo : undo)();
}

export function Undo() {
  useEffect(() => {
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <div class="undo">
      <button type="button" disabled={!canUndo.value} title="Ctrl+Z" onClick={undo}>
        Undo
      </button>{" "}
      <button type="button" disabled={!canRedo.value} title="Ctrl+Shift+Z" onClick={redo}>
        Redo
      </button>
    </div>
  );
}
