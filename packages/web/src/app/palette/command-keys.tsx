import { Suspense, useEffect, useState } from "react";
import { focusOn } from "../../parts/browser/focus-on.ts";
import { isForWriting, isPrintable, keysOf, PALETTE_KEYS } from "../../parts/browser/keys.ts";
import { lazily } from "../../parts/browser/lazily.ts";
import { useActions, useAllActions } from "../../parts/page/actions.tsx";
import { usePage } from "../../parts/page/page.ts";
import { t } from "../../parts/phrases/phrases.ts";

const Palette = lazily(async () => ({ default: (await import("./palette.tsx")).Palette }));
const ShortcutList = lazily(async () => ({ default: (await import("./shortcut-list.tsx")).ShortcutList }));

/** Runs actions by their keys, and opens palette and shortcuts (W44). Other typing goes to the message box (W53). */
export function CommandKeys() {
  const page = usePage();
  const all = useAllActions();
  const [open, setOpen] = useState<"palette" | "shortcuts">();
  useActions([
    { name: t("Find an action"), keys: PALETTE_KEYS, slash: "help", run: () => setOpen("palette") },
    { name: t("Shortcuts"), keys: "Mod+/", slash: "keys", run: () => setOpen("shortcuts") },
  ]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      const keys = keysOf(event);
      const action = keys === undefined ? undefined : all().find((each) => each.keys === keys);
      if (action) {
        event.preventDefault();
        page.perform(() => action.run());
      } else if (isPrintable(event) && !isForWriting(event.target)) focusOn("#composer");
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [all, page]);
  const close = () => setOpen(undefined);
  return (
    <Suspense fallback={null}>
      {open === "palette" && <Palette actions={all()} onClose={close} />}
      {open === "shortcuts" && <ShortcutList actions={all()} onClose={close} />}
    </Suspense>
  );
}
