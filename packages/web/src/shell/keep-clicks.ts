/** What a press can act on. */
const PRESSED = "button, a[href], summary, label, input, select, textarea";

/** Pixels that a hand moves in a click. */
const STILL = 6;

/**
 * A click acts on what was pressed, also where the page has moved meanwhile (W54): what is pressed at one place and let go at
 * another is, for a browser, a click on what holds both, which is nothing.
 */
export function keepClicks(document: Document): void {
  let pressed: { readonly element: HTMLElement; readonly x: number; readonly y: number } | undefined;
  document.addEventListener(
    "pointerdown",
    ({ target, clientX: x, clientY: y, isPrimary, button }) => {
      const element = target instanceof Element ? target.closest<HTMLElement>(PRESSED) : null;
      pressed = element && isPrimary && button === 0 ? { element, x, y } : undefined;
    },
    { capture: true },
  );
  document.addEventListener(
    "click",
    (event) => {
      const { element, x, y } = pressed ?? {};
      // A key, and a program, press nothing.
      if (!event.isTrusted || event.detail === 0) return;
      pressed = undefined;
      if (!element?.isConnected || x === undefined || y === undefined) return;
      if (event.target instanceof Node && element.contains(event.target)) return;
      // A hand that has moved on has thought better of it, or has marked text.
      if (Math.hypot(event.clientX - x, event.clientY - y) > STILL) return;
      event.preventDefault();
      event.stopPropagation();
      element.click();
    },
    { capture: true },
  );
}
