import type { Json } from "../conversation/part.ts";

export interface CheckedInput {
  /** The arguments as JSON, for the log, rules, questions and clients. A copy that no other code holds. */
  readonly input: Json;
  /** The value for the tool: equal to `input`, or the schema's output, such as a `Date` in place of its text. */
  readonly value: unknown;
}

/** Returns arguments as JSON for the rules, the user and the tool. Refuses a value that JSON cannot show. */
export function checkedInput(value: unknown): CheckedInput {
  const copy = new Copy();
  const input = copy.of(value);
  // A tool may change its arguments, but the log must not change.
  return { input, value: copy.isSame ? new Copy().of(input) : value };
}

export function isSameInput(one: Json | undefined, other: Json | undefined): boolean {
  return isEqual(one, other);
}

/** Compares two values of plain JSON data, field by field. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isEqual(Reflect.get(one, name), Reflect.get(other, name)))
  );
}

/** Copies a value as plain JSON. Values with `toJSON` (a date, an address) are copied in that form. */
class Copy {
  /** True if the value was plain JSON already. */
  isSame = true;

  of(value: unknown, place = "the top"): Json {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        if (!Number.isFinite(value)) break;
        // JSON has only one zero.
        if (!Object.is(value, -0)) return value;
        this.isSame = false;
        return 0;
      case "object":
        if (value === null) return null;
        if (Array.isArray(value)) return this.#list(value, place);
        if ("toJSON" in value && typeof value.toJSON === "function") {
          this.isSame = false;
          return this.of(value.toJSON(), place);
        }
        if (hasPlainPrototype(value)) return this.#record(value, place);
    }
    const kind = typeof value === "object" ? (value?.constructor?.name ?? "object") : String(value);
    throw new TypeError(
      `at ${place} they hold a value that JSON cannot represent (${kind}); a schema must return plain values, or values with toJSON`,
    );
  }

  #list(list: readonly unknown[], place: string): Json {
    if (Reflect.ownKeys(list).length !== list.length + 1) this.isSame = false;
    return Array.from(list, (item, index) => this.of(item, `${place}.${index}`));
  }

  #record(value: object, place: string): Json {
    const record: Record<string, Json> = {};
    const names = Object.keys(value);
    if (Reflect.ownKeys(value).length !== names.length) this.isSame = false;
    for (const name of names) {
      const inner: unknown = Reflect.get(value, name);
      if (inner === undefined) {
        this.isSame = false;
        continue;
      }
      const copied = this.of(inner, `${place}.${name}`);
      // A plain assignment of this name would set the prototype.
      if (name === "__proto__") Object.defineProperty(record, name, { value: copied, ...OWN });
      else record[name] = copied;
    }
    return record;
  }
}

const OWN = { enumerable: true, configurable: true, writable: true } as const;

function hasPlainPrototype(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
