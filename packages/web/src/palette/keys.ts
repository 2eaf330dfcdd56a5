/** What opens the palette. */
export const PALETTE_KEYS = "Mod+K";

const isMac = (): boolean => /Mac|iP(hone|ad)/.test(navigator.platform);

/** What an event's keys are called in an action: `Mod+K`, `?`, `b`. */
export function keysOf(event: KeyboardEvent): string {
  const isMod = isMac() ? event.metaKey : event.ctrlKey;
  return isMod ? `Mod+${event.key.toUpperCase()}` : event.key;
}

/** Keys as they are written on the keyboard of this machine. */
export function keysInWords(keys: string): string {
  return keys.replace("Mod+", isMac() ? "⌘" : "Ctrl+");
}

/** Whether a key goes to what is in focus, and is no shortcut there. */
export function isForWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest("input, textarea, select, [contenteditable], [role=dialog]") !== null
  );
}
