const PRESSED = "button, a[href], summary, label, input, select, textarea";

const STILL = 6;

/**
 * Makes a click reach the pressed element even if the page moved during the click (W54). If the pointer goes down and
 * up on different elements, a browser sends the click to their common ancestor, where it has no effect.
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
      // Keys and scripts have no pressed element.
      if (!event.isTrusted || event.detail === 0) return;
      pressed = undefined;
      if (!element?.isConnected || x === undefined || y === undefined) return;
      if (event.target instanceof Node && element.contains(event.target)) return;
      // A longer movement means that the user changed their mind or selected text.
      if (Math.hypot(event.clientX - x, event.clientY - y) > STILL) return;
      event.preventDefault();
      event.stopPropagation();
      element.click();
    },
    { capture: true },
  );
}
