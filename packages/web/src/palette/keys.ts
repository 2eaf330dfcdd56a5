/** What opens the palette. */
export const PALETTE_KEYS = "Mod+K";

const isMac = (): boolean => /Mac|iP(hone|ad)/.test(navigator.platform);

/** What an event's keys are called in an action: `Mod+K`, `Alt+B`; nothing for a key alone, which acts on nothing (W53). */
export function keysOf({ key, code, altKey, ctrlKey, metaKey }: KeyboardEvent): string | undefined {
  if (isMac() ? metaKey && !ctrlKey : ctrlKey && !metaKey && !altKey) return `Mod+${key.toUpperCase()}`;
  // With Alt, some keyboards write another letter than the one on the key.
  if (altKey && !ctrlKey && !metaKey) return `Alt+${/^Key(.)$/.exec(code)?.[1] ?? key.toUpperCase()}`;
  return undefined;
}

/** Whether a key writes something by itself. */
export function isPrintable({ key, altKey, ctrlKey, metaKey, isComposing }: KeyboardEvent): boolean {
  return key.length === 1 && key !== " " && !altKey && !ctrlKey && !metaKey && !isComposing;
}

/** Keys as they are written on the keyboard of this machine. */
export function keysInWords(keys: string): string {
  return isMac() ? keys.replace("Mod+", "⌘").replace("Alt+", "⌥") : keys.replace("Mod+", "Ctrl+");
}

/** Whether a key goes to what is in focus, and is no shortcut there. */
export function isForWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest("input, textarea, select, [contenteditable], [role=dialog], [role=tree]") !== null
  );
}
