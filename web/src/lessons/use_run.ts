/** The run of a scenario that is not the page's: a lesson's, a game's. */

import { useEffect, useState } from "preact/hooks";
import { engine } from "../engine/client";
import type { Run } from "../engine/protocol";
import { SAMPLES } from "./samples";

export interface Shown {
  run: Run | null;
  /** What is wrong with the scenario. */
  error: string | null;
}

/** The run of a scenario; of a long one its first part as it goes on. */
export function useRun(toml: string): Shown {
  const [shown, setShown] = useState<Shown>({ run: null, error: null });
  useEffect(() => {
    let isCurrent = true;
    const show = (run: Run | null) => isCurrent && run && setShown({ run, error: null });
    const fail = (error: Error) => isCurrent && setShown({ run: null, error: error.message });
    setShown({ run: null, error: null });
    engine.run("lesson", { toml, samples: SAMPLES }, show).then(show, fail);
    return () => void (isCurrent = false);
  }, [toml]);
  return shown;
}
