const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Returns nine letters and digits derived from a text, the same in every process. Works without Node. */
function shortDigest(text: string): string {
  // Two sums of 32 bits suffice to distinguish the few illegal ids and names of a conversation.
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  let rest = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  let letters = "";
  for (let count = 0; count < 9; count++) {
    letters += LETTERS[Number(rest % 62n)];
    rest /= 62n;
  }
  return letters;
}

/** Returns a call's id in a form that a provider accepts. A refused id becomes nine letters and digits. */
export function legalId(id: string, form: RegExp | undefined): string {
  return form === undefined || form.test(id) ? id : shortDigest(id);
}

/** UTF-16 units of an illegal name that stay readable before its digest. */
const READABLE = 40;

/** Returns a name in a form that a provider accepts. A refused name becomes its allowed letters and a digest. */
export function legalName(name: string, form: RegExp): string {
  if (form.test(name)) return name;
  const readable = name
    .replace(/[^a-zA-Z0-9_]+/g, "_")
    .replace(/^[^a-zA-Z]+/, "")
    .slice(0, READABLE);
  return `${readable === "" ? "x" : readable}_${shortDigest(name)}`;
}

function mapTexts<Value>(value: Value, change: (text: string) => string): Value {
  return mapped(value, change, change) as Value;
}

/** Applies `change` to all keys of a value. Returns `value` itself if no key changed. */
export function mapKeys<Value>(value: Value, change: (key: string) => string): Value {
  return mapped(value, (text) => text, change) as Value;
}

function mapped(value: unknown, text: (text: string) => string, key: (key: string) => string): unknown {
  if (typeof value === "string") return text(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    let items: unknown[] = value;
    for (let index = 0; index < value.length; index++) {
      const item = mapped(value[index], text, key);
      if (item === value[index]) continue;
      if (items === value) items = [...value];
      items[index] = item;
    }
    return items;
  }
  const known = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(known);
  const isSame = names.every((name) => key(name) === name && mapped(known[name], text, key) === known[name]);
  if (isSame) return value;
  return Object.fromEntries(names.map((name) => [key(name), mapped(known[name], text, key)]));
}

/** Replaces lone surrogates by U+FFFD, because providers refuse JSON with half a surrogate pair. */
export function wellFormed<Value>(value: Value): Value {
  return isWellFormed(value) ? value : mapTexts(value, (text) => text.toWellFormed());
}

/** Every message passes here, and nearly all are well-formed: so no copies are made. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  for (const key in value) {
    if (!key.isWellFormed() || !isWellFormed((value as Readonly<Record<string, unknown>>)[key])) return false;
  }
  return true;
}
