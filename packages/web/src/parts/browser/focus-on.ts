/** A function for `ref`, which focuses a new element that replaces the element that the user pressed. */
export function takesFocus(shown: HTMLElement | null): void {
  shown?.focus();
}

export function focusOnMessage(id: string): void {
  document.getElementById(`m-${id}`)?.focus();
}

export function focusOn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}

export function pressOn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.click();
}
