/** What a link made from a `studio.html` on a disk is good for: its address holds that disk's path. */

import { Copied } from "./copied";

/** The part of a link from `#` on where the page was opened from a disk; null on a site. */
export function partOnDisk(link: string): string | null {
  return link.startsWith("file:") ? link.replace(/^[^#]*/, "") : null;
}

/** Says beside a link made on a disk how to open it elsewhere; nothing on a site. */
export function OnDisk({ link }: { link: string }) {
  const part = partOnDisk(link);
  if (!part) return null;
  return (
    <>
      <p>
        This link works on this computer only. To open it elsewhere, paste this behind the address
        of any studio:
      </p>
      <Copied text={part} label="Part of the link for any studio" />
    </>
  );
}
