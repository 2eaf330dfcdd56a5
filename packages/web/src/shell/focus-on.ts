/** Puts the focus on what is shown under a selector, if it is. */
export function focusOn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}
