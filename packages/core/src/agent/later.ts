import { isOnDisk, soon } from "../ports/runtime.ts";

/**
 * Loads, in the background, the code that most agents need only after their first answer. Without this, a page could
 * miss the code in the middle of a conversation: it may have lost its network, or its server may have a newer version.
 */
export function loadLater(): void {
  if (isOnDisk) return;
  soon(() => {
    Promise.all([
      import("../context/overflow.ts"),
      import("../goal/pursue.ts"),
      import("../model/rules/refusal.ts"),
      import("../past/history.ts"),
      import("../past/recovery.ts"),
      import("./mode/partial-result.ts"),
    ]).catch(() => {
      // The next turn tries again.
    });
  });
}
