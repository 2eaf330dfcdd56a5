/** For `ref`: what is shown takes the focus as soon as it is there, for it stands in the place of what somebody pressed. */
export function takesFocus(shown: HTMLElement | null): void {
  shown?.focus();
}

/** Puts the focus on a message, if it is shown. */
export function focusOnMessage(id: string): void {
  document.getElementById(`m-${id}`)?.focus();
}

/** Puts the focus on what is shown under a selector, if it is. */
export function focusOn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}

/** Presses the button that is shown under a selector, if it is. */
export function pressOn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.click();
}
