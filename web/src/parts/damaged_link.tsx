/** Says that a link was cut off or altered, so that nobody takes another network for the one sent. */

import { isDamaged } from "../state/share";

export function DamagedLink() {
  if (!isDamaged.value) return null;
  return (
    <p class="fault damaged" role="alert">
      This link is damaged: what follows <code>s=</code> holds no whole scenario. The network shown
      is not the one that was sent. Ask for the link again, or for the scenario as a file.
    </p>
  );
}
