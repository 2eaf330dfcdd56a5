import { focusOn } from "../shell/focus-on.ts";

/**
 * Where the focus goes once what has it is answered: to the message that it is part of; in the list of what waits to
 * the next one, and after the last one to where one writes.
 */
export function focusAfter(answered: Element | null): () => void {
  const message = answered?.closest<HTMLElement>("article");
  if (message) return () => message.focus({ preventScroll: true });
  const item = answered?.closest("li");
  // Some browsers give no focus to a button that is clicked: then there is none to lose.
  if (!item) return () => {};
  const all = [...(item.parentElement?.children ?? [])];
  const at = all.indexOf(item);
  const others = [...all.slice(at + 1), ...all.slice(0, at)];
  return () => {
    // The others may have been answered elsewhere meanwhile.
    const next = others.find((one) => one.isConnected);
    if (!next) return focusOn("#composer");
    (next.querySelector<HTMLElement>("fieldset, form textarea") ?? next.querySelector("a"))?.focus();
  };
}
