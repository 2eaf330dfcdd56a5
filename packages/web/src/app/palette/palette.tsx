import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import { useRef, useState } from "react";
import { keysInWords, PALETTE_KEYS } from "../../parts/browser/keys.ts";
import type { PaletteAction } from "../../parts/page/actions.tsx";
import { usePage } from "../../parts/page/page.ts";
import { t } from "../../parts/phrases/phrases.ts";

export function Palette({
  actions,
  onClose,
}: {
  readonly actions: readonly PaletteAction[];
  readonly onClose: () => void;
}) {
  // The chosen action may move the focus; otherwise the focus returns to where it was.
  const isChosen = useRef(false);
  const [before] = useState(() => document.activeElement as HTMLElement | null);
  const page = usePage();
  const choose = (action: PaletteAction) => {
    isChosen.current = true;
    onClose();
    requestAnimationFrame(() => {
      page.perform(() => action.run());
      if (document.activeElement === document.body) before?.focus();
    });
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup
          aria-label={t("Find an action")}
          finalFocus={() => !isChosen.current}
          className="fixed inset-x-2 top-[10vh] z-50 mx-auto flex max-h-[70vh] max-w-xl flex-col overflow-hidden rounded-xl border border-hair bg-surface shadow-open"
        >
          <Autocomplete.Root
            items={actions.filter(({ keys, name }) => name !== undefined && keys !== PALETTE_KEYS)}
            itemToStringValue={({ name = "" }) => name}
            inline
            open
            autoHighlight="always"
            keepHighlight
          >
            <Autocomplete.Input
              aria-label={t("Find an action")}
              placeholder={t("What do you want to do?")}
              className="border-hair border-b bg-surface px-4 py-3"
            />
            <Autocomplete.Empty>
              <p className="px-4 py-3 text-sm text-soft empty:hidden">{t("No matching action.")}</p>
            </Autocomplete.Empty>
            <Autocomplete.List className="min-h-0 overflow-y-auto p-1 text-sm">
              {(action: PaletteAction) => (
                <Autocomplete.Item
                  key={action.name}
                  value={action}
                  onClick={() => choose(action)}
                  className="flex cursor-pointer items-center justify-between gap-4 rounded px-3 py-1.5 data-[highlighted]:bg-leaf-ground"
                >
                  {action.name}
                  {action.keys !== undefined && (
                    <kbd className="shrink-0 text-soft text-xs">{keysInWords(action.keys)}</kbd>
                  )}
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
