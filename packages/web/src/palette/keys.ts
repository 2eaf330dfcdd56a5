/** What opens the palette. */
export const PALETTE_KEYS = "Mod+K";

const isMac = (): boolean => /Mac|iP(hone|ad)/.test(navigator.platform);

/**
 * Returns whether a key belongs to an input method, which composes a word with it. Safari sends the Enter that ends a composition when
 * the composition is over: only its code, 229, tells.
 */
export function isOfInputMethod({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === 229;
}

let isDone = Promise.resolve();

/** Resolves when no input method composes a word. */
export function composed(): Promise<void> {
  return isDone;
}

/** Keeps the keys of input methods from all listeners of the page, those of libraries included (W94). */
export function leaveToInputMethods(window: Window): void {
  const leave = (event: KeyboardEvent) => {
    if (isOfInputMethod(event)) event.stopImmediatePropagation();
  };
  window.addEventListener("keydown", leave, { capture: true });
  window.addEventListener("compositionstart", () => {
    isDone = new Promise((resolve) => {
      window.addEventListener("compositionend", () => resolve(), { once: true });
    });
  });
}

/**
 * The name of an event's keys in an action: `Mod+K`, `Alt+B`. A key alone has none (W53), and so has a key with Alt where the
 * user writes: on many keyboards it types a character (W91).
 */
export function keysOf(event: KeyboardEvent): string | undefined {
  const { key, code, altKey, ctrlKey, metaKey } = event;
  if (isAltGr(event)) return undefined;
  if (isMac() ? metaKey && !ctrlKey : ctrlKey && !metaKey && !altKey) return `Mod+${key.toUpperCase()}`;
  if (!altKey || ctrlKey || metaKey || isTextBox(event.target)) return undefined;
  // With Alt, some keyboards write another letter than the one on the key.
  return `Alt+${/^Key(.)$/.exec(code)?.[1] ?? key.toUpperCase()}`;
}

/** Returns whether a key writes something, by itself, with AltGr, or as the first half of a letter with an accent. */
export function isPrintable(event: KeyboardEvent): boolean {
  const { key, altKey, ctrlKey, metaKey } = event;
  if (key === " " || (key.length !== 1 && key !== "Dead")) return false;
  return isAltGr(event) || (!ctrlKey && !metaKey && (!altKey || isMac()));
}

/** Returns whether AltGr is down, which some systems tell as Ctrl and Alt. On a Mac, browsers call Option so. */
function isAltGr(event: KeyboardEvent): boolean {
  return !isMac() && event.getModifierState("AltGraph");
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

/** Returns whether characters can be typed into an element. */
function isTextBox(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.matches("textarea, [contenteditable], input:not([type=checkbox], [type=radio], [type=file])")
  );
}
