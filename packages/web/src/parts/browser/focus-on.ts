/** Focuses a new element that replaces the pressed element. Pass this function as the `ref` of the new element. */
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
