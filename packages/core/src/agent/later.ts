import { isOnDisk, soon } from "../ports/runtime.ts";

/**
 * Loads the code that most agents need only after their first answer, in the background. Otherwise a page could lack the
 * code in the middle of a conversation: it may have no network then, or its server may have a newer version.
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
