/** For `ref`: focuses a new element, which replaces the one that the user pressed. */
export function takesFocus(shown: HTMLElement | null): void {
  shown?.focus();
}

/** Focuses a message, if it is rendered. */
export function focusOnMessage(id: string): void {
  document.getElementById(`m-${id}`)?.focus();
}

/** Focuses the element of a selector, if it is rendered. */
export function focusOn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}

/** Clicks the element of a selector, if it is rendered. */
export function pressOn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.click();
}
