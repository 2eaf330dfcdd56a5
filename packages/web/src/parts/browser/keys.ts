export const PALETTE_KEYS = "Mod+K";

const isMac = (): boolean => /Mac|iP(hone|ad)/.test(navigator.platform);

/**
 * Returns whether a key belongs to an input method's composition. Safari sends the Enter that ends a composition only
 * after the composition's end; only the key code 229 identifies this Enter.
 */
export function isOfInputMethod({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === 229;
}

let isDone = Promise.resolve();

/** Resolves when no input method is composing. */
export function composed(): Promise<void> {
  return isDone;
}

/** Hides keys of input methods from all listeners of the page, including those of libraries (W94). */
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
 * Returns the keys of an event as actions write them: `Mod+K`, `Alt+B`. Returns `undefined` for a key without modifiers
 * (W53), and for Alt in a text box, where it types a character on many keyboards (W91).
 */
export function keysOf(event: KeyboardEvent): string | undefined {
  const { key, code, altKey, ctrlKey, metaKey } = event;
  if (isAltGr(event)) return undefined;
  if (isMac() ? metaKey && !ctrlKey : ctrlKey && !metaKey && !altKey) return `Mod+${key.toUpperCase()}`;
  if (!altKey || ctrlKey || metaKey || isTextBox(event.target)) return undefined;
  // With Alt, some keyboards report another letter than the one on the key.
  return `Alt+${/^Key(.)$/.exec(code)?.[1] ?? key.toUpperCase()}`;
}

/** Returns whether a key types a character, alone, with AltGr, or as a dead key for an accent. */
export function isPrintable(event: KeyboardEvent): boolean {
  const { key, altKey, ctrlKey, metaKey } = event;
  if (key === " " || (key.length !== 1 && key !== "Dead")) return false;
  return isAltGr(event) || (!ctrlKey && !metaKey && (!altKey || isMac()));
}

/** Returns whether AltGr is down, which some systems report as Ctrl and Alt. On a Mac, browsers report Option as AltGr. */
function isAltGr(event: KeyboardEvent): boolean {
  return !isMac() && event.getModifierState("AltGraph");
}

/** Returns the names of keys as on this machine's keyboard. */
export function keysInWords(keys: string): string {
  return isMac() ? keys.replace("Mod+", "⌘").replace("Alt+", "⌥") : keys.replace("Mod+", "Ctrl+");
}

/** Returns whether the focused element takes typed text, so that a key there is no shortcut. */
export function isForWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest("input, textarea, select, [contenteditable], [role=dialog], [role=tree]") !== null
  );
}

function isTextBox(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.matches("textarea, [contenteditable], input:not([type=checkbox], [type=radio], [type=file])")
  );
}
