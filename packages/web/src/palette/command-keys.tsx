import { Suspense, useEffect, useState } from "react";
import { lazily } from "../shell/lazily.ts";
import { usePreference } from "../shell/preferences.ts";
import { useActions, useAllActions } from "./actions.tsx";
import { isForWriting, keysOf, PALETTE_KEYS } from "./keys.ts";

const Palette = lazily(async () => ({ default: (await import("./palette.tsx")).Palette }));
const ShortcutList = lazily(async () => ({ default: (await import("./shortcut-list.tsx")).ShortcutList }));

/** Runs actions by their keys; opens the palette and the list of shortcuts (W44). */
export function CommandKeys() {
  const all = useAllActions();
  const [single] = usePreference("keys");
  const [open, setOpen] = useState<"palette" | "shortcuts">();
  useActions([
    { name: "Find an action", keys: PALETTE_KEYS, run: () => setOpen("palette") },
    { name: "Shortcuts", keys: "?", run: () => setOpen("shortcuts") },
  ]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const keys = keysOf(event);
      const isSingle = !keys.startsWith("Mod+");
      if (event.defaultPrevented || event.altKey || (isSingle && (event.ctrlKey || event.metaKey))) return;
      if (isSingle && (single === "off" || isForWriting(event.target))) return;
      const action = all().find((each) => each.keys === keys);
      if (!action) return;
      event.preventDefault();
      action.run();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [all, single]);
  const close = () => setOpen(undefined);
  return (
    <Suspense fallback={null}>
      {open === "palette" && <Palette actions={all()} onClose={close} />}
      {open === "shortcuts" && <ShortcutList actions={all()} onClose={close} />}
    </Suspense>
  );
}
