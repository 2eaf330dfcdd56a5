import type { KeyId } from "@earendil-works/pi-tui";

const MODIFIERS = ["ctrl", "shift", "alt", "super"];

/** Keys that have a name, as it is written, by the same in lower case. */
const NAMED = new Map(
  [
    ..."escape enter tab space backspace delete insert home end pageUp pageDown up down left right".split(" "),
    ...Array.from({ length: 12 }, (_, index) => `f${index + 1}`),
  ].map((name) => [name.toLowerCase(), name]),
);

const OTHER_NAMES: Readonly<Record<string, string>> = { esc: "escape", return: "enter", del: "delete" };

/** A key as people write it (`Ctrl+Shift+P`, `alt+enter`, `?`) as it is named here; nothing when there is no such key. */
export function keyNamed(text: string): KeyId | undefined {
  const [, front = "", base = ""] = /^((?:(?:ctrl|shift|alt|super)\+)*)(\S+)$/.exec(text.trim().toLowerCase()) ?? [];
  const modifiers = front.split("+");
  const key = NAMED.get(OTHER_NAMES[base] ?? base) ?? (/^[!-*,-~]$/.test(base) ? base : undefined);
  if (key === undefined) return undefined;
  const ordered = MODIFIERS.filter((modifier) => modifiers.includes(modifier));
  return [...ordered, key].join("+") as KeyId;
}
