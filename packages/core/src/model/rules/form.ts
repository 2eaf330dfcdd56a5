const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Nine letters and digits made of a text: the same in every process. The function needs nothing of Node. */
function digest(text: string): string {
  // Two sums of 32 bits: enough to keep the few odd ids and names of a conversation distinct.
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

/** The id of a call in a provider's form: the id itself where it fits, else nine letters and digits made of it. */
export function legalId(id: string, form: RegExp | undefined): string {
  return form === undefined || form.test(id) ? id : digest(id);
}

/** UTF-16 units of an odd name that stay readable before its digest. */
const READABLE = 40;

/**
 * A name in a provider's form: the name itself where it fits, else its letters with a digest behind them. Two names stay
 * distinct, and a name needs no list of the others to keep its form from turn to turn.
 */
export function legalName(name: string, form: RegExp): string {
  if (form.test(name)) return name;
  const readable = name
    .replace(/[^a-zA-Z0-9_]+/g, "_")
    .replace(/^[^a-zA-Z]+/, "")
    .slice(0, READABLE);
  return `${readable === "" ? "x" : readable}_${digest(name)}`;
}

/** A value of which each text, also each key, went through `change`; the same value where nothing changed. */
function mapTexts<Value>(value: Value, change: (text: string) => string): Value {
  return mapped(value, change, change) as Value;
}

/** A value of which each key went through `change`; the same value where nothing changed. */
export function mapKeys<Value>(value: Value, change: (key: string) => string): Value {
  return mapped(value, (text) => text, change) as Value;
}

// Copies begin with the first change.
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

/** Providers refuse JSON with half a surrogate pair: U+FFFD takes its place. */
export function wellFormed<Value>(value: Value): Value {
  return isWellFormed(value) ? value : mapTexts(value, (text) => text.toWellFormed());
}

/** Each message of a conversation comes through here, so that nothing is made for one that is well-formed. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  for (const key in value) {
    if (!key.isWellFormed() || !isWellFormed((value as Readonly<Record<string, unknown>>)[key])) return false;
  }
  return true;
}
