/** The path to a setting: names in objects, positions in lists. */
export type KeyPath = readonly PropertyKey[];

/** Formats a path: `models["ollama/qwen3.5"].contextSize` or `permissions.deny[0]`. `parseKey` reads it back. */
export function formatKey(path: KeyPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    const name = String(part);
    if (!/^[^.[\]"\s]+$/.test(name)) return `${text}[${JSON.stringify(name)}]`;
    return text === "" ? name : `${text}.${name}`;
  }, "");
}

const PART = /\.?(?:\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]"\s]+))/y;

/** Parses a path; undefined if the text is invalid. */
export function parseKey(text: string): KeyPath | undefined {
  const path: PropertyKey[] = [];
  const parts = new RegExp(PART);
  if (text.startsWith(".")) return undefined;
  while (parts.lastIndex < text.length) {
    const [found, position, quoted, plain] = parts.exec(text) ?? [];
    if (found === undefined) return undefined;
    if (position !== undefined) path.push(Number(position));
    else if (quoted !== undefined) path.push(unquotedKeyPart(quoted));
    else if (plain !== undefined) path.push(plain);
  }
  return path.length === 0 ? undefined : path;
}

function unquotedKeyPart(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    // Invalid JSON escape: take the text literally.
    return text.slice(1, -1);
  }
}

/** Returns the value at a path; undefined if there is none. */
export function valueAt(value: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>(
    (inner, part) =>
      inner !== null && typeof inner === "object" && Object.hasOwn(inner, part)
        ? (inner as Record<PropertyKey, unknown>)[part]
        : undefined,
    value,
  );
}

/** Returns a copy with a changed value at the path; `undefined` removes the value. Creates missing objects. */
export function withValueAt(value: unknown, [part, ...rest]: KeyPath, changed: unknown): unknown {
  if (part === undefined) return changed;
  if (typeof part === "number" && Array.isArray(value)) {
    const inner = withValueAt(value[part], rest, changed);
    return inner === undefined ? value.toSpliced(part, 1) : Object.assign([...value], { [part]: inner });
  }
  const old: Readonly<Record<PropertyKey, unknown>> = isPlainObject(value) ? value : {};
  const inner = withValueAt(Object.hasOwn(old, part) ? old[part] : undefined, rest, changed);
  const { [part]: _, ...others } = old;
  return inner === undefined ? others : { ...old, [part]: inner };
}

/** Returns whether a value is an object with names, not a list. */
export function isPlainObject(value: unknown): value is Readonly<Record<PropertyKey, unknown>> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
