/** Build: controls beside the run that they change. */

import { PlotsOfRun } from "./plots_of_run";

export function Build() {
  return (
    <main class="build">
      <PlotsOfRun />
    </main>
  );
}
