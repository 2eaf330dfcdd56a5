import type { CommandName } from "@banyan/protocol";
import { Dialog } from "@base-ui/react/dialog";
import { keysInWords } from "../../parts/browser/keys.ts";
import type { PaletteAction } from "../../parts/page/actions.tsx";
import { useMay } from "../../parts/page/use-may.ts";
import { t } from "../../parts/phrases/phrases.ts";

const PLACES: readonly (readonly [
  place: string,
  keys: readonly (readonly [keys: string, does: string])[],
  takes?: CommandName,
])[] = [
  [
    t("In the message box"),
    [
      ["Enter", t("Send")],
      ["Alt+Enter", t("Send after this turn")],
      ["Shift+Enter", t("New line")],
    ],
    "turn.say",
  ],
  [
    t("On a message"),
    [
      ["Enter", t("Links and buttons")],
      ["← →", t("Other versions")],
      ["Alt+↑ Alt+↓", t("Previous or next branch point")],
    ],
  ],
  [
    t("On an approval request"),
    [
      ["Alt+A", t("Allow once")],
      ["Alt+S", t("Allow for this conversation")],
      ["Alt+D", t("Deny")],
    ],
    "question.answer",
  ],
  [
    t("In the outline"),
    [
      ["↑ ↓ Home End", t("Move")],
      ["→ ←", t("Open, close or go up")],
      ["Enter", t("Show the branch")],
      [t("a letter"), t("Next row that starts with this letter")],
    ],
  ],
];

/** Lists all shortcuts. Single keys act only while a message or the outline has the focus (WCAG 2.1.4). */
export function ShortcutList({
  actions,
  onClose,
}: {
  readonly actions: readonly PaletteAction[];
  readonly onClose: () => void;
}) {
  const may = useMay();
  const everywhere = actions.flatMap(({ keys, name = "" }) =>
    keys === undefined ? [] : [[keysInWords(keys), name] as const],
  );
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup className="fixed inset-x-2 top-[6vh] z-50 mx-auto max-h-[85vh] max-w-2xl overflow-y-auto rounded-xl border border-hair bg-surface p-4 text-sm shadow-open">
          <div className="flex items-center justify-between">
            <Dialog.Title className="font-semibold text-lg">{t("Shortcuts")}</Dialog.Title>
            <Dialog.Close aria-label={t("Close")} className="size-7 rounded hover:bg-sunken">
              ✕
            </Dialog.Close>
          </div>
          <div className="mt-2 grid gap-4 sm:grid-cols-2">
            <Keys place={t("Everywhere")} keys={everywhere} />
            {PLACES.filter(([, , takes]) => takes === undefined || may(takes)).map(([place, keys]) => (
              <Keys key={place} place={place} keys={keys} />
            ))}
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Keys({ place, keys }: { readonly place: string; readonly keys: readonly (readonly [string, string])[] }) {
  return (
    <section>
      <h3 className="font-medium">{place}</h3>
      <dl>
        {keys.map(([key, does]) => (
          <div key={key} className="flex justify-between gap-4 py-0.5">
            <dt>
              <kbd className="font-mono text-xs">{key}</kbd>
            </dt>
            <dd className="text-end text-soft">{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
