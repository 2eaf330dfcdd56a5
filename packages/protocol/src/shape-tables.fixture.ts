import { isDeepStrictEqual } from "node:util";
import { type JsonSchemas, type ProtocolSchema, referenceName } from "./json-schemas.ts";

// Generates the lists of fields in docs/protocol.md from the schemas.

/** A field: its path, its kinds in a union, its form, and the description in its schema. */
interface Row {
  readonly field: string;
  readonly kind: string;
  readonly form: string;
  readonly says: string;
}

/** Returns the lists of all fields that programs send and receive. */
export function shapeTables({ schemas, shapes, commands, unions }: JsonSchemas): string {
  const schema = (name: string): ProtocolSchema => schemas[name] ?? {};
  /** The shared types by name, without the kinds of their fields. Events refer to them. */
  const types: Table = new Map(
    shapes.map((name) => [name, rowsOf(schema(name), ["type"]).map((row) => ({ ...row, kind: "" }))]),
  );
  /** Lists the fields of several schemas; `beside` are the fields of all of them. */
  const list = (
    kind: string,
    names: readonly string[],
    beside: readonly string[] = [],
    shown = (name: string) => name,
  ): string => {
    const known: Table = new Map();
    const all = names.map((name) => ({
      name,
      rows: rowsOf(schema(name), ["type"]).filter(({ field }) => !beside.includes(bare(field))),
    }));
    const common = commonRow(all.map(({ rows }) => rows));
    const isCommon = (row: Row) => isDeepStrictEqual(row, common);
    const without = all.filter(({ rows }) => !rows.some(isCommon)).map(({ name }) => `\`${shown(name)}\``);
    const except = without.length > 0 ? `Not a field of ${oneOf(without)}.` : "";
    const shared = [
      ...rowsOf(schema(names[0] ?? "")).filter(({ field }) => beside.includes(bare(field))),
      ...(common ? [{ ...common, says: [common.says, except].filter((says) => says !== "").join(" ") }] : []),
    ];
    const objects: KnownObjects = [];
    return [
      ...(shared.length > 0 ? [fieldList(`Each ${kind}`, shared)] : []),
      ...sameRows(
        all.map(({ name, rows: whole }) => {
          const rows = whole.filter((row) => !isCommon(row));
          const fewer = withoutKnownObjects(
            shown(name),
            withoutRepeats(rows, known, kind === "event" ? types : new Map()),
            objects,
          );
          known.set(shown(name), rows);
          return { names: `\`${shown(name)}\``, rows: fewer };
        }),
      ).map(({ names, rows }) => fieldList(names, rows)),
    ].join("\n\n");
  };
  const forms = shapes.filter((name) => rowsOf(schema(name)).length === 0);
  const results = commands.map((name) => `${name}.result`);
  const empty = commands.filter((name) => rowsOf(schema(`${name}.result`)).length === 0);
  return [
    "### Shared types",
    forms
      .map((name) =>
        lineOf({ field: `\`${name}\``, kind: "", form: formOf(schema(name)), says: schema(name).description ?? "" }),
      )
      .join("\n"),
    list(
      "type",
      shapes.filter((name) => !forms.includes(name)),
    ),
    "### Fields of commands",
    list("command", commands, ["id"]),
    "### Results of commands",
    list(
      "result",
      results.filter((name) => rowsOf(schema(name)).length > 0),
      [],
      (name) => name.replace(/\.result$/, ""),
    ),
    `These commands have an empty result: ${empty.map((name) => `\`${name}\``).join(", ")}.`,
    "### Frames",
    "The client sends `hello`. The server sends all other frames.",
    list("frame", [...new Set(["frame.hello", ...unions.frame])], [], (name) => name.replace("frame.", "")),
    "### Fields of events",
    "[Events](events.md) explains events, deltas and notices.",
    list("event", unions.event, ["seq", "epoch", "at"]),
    "### Fields of deltas",
    list("delta", unions.delta, ["seq", "epoch", "offset", "run", "agent", "depth"]),
    "### Fields of notices",
    list("notice", unions.notice),
  ].join("\n\n");
}

/** Returns the fields as a list below a title. */
function fieldList(title: string, rows: readonly Row[]): string {
  if (rows.length === 0) return `**${title}**: no more fields.`;
  return `**${title}**\n\n${merged(rows).map(lineOf).join("\n")}`;
}

function lineOf({ field, kind, form, says }: Row): string {
  return `- ${field}${kind}: ${form}${says === "" ? "" : `. ${says}`}`;
}

/** Rows of a table by the name of their command or item. */
type Table = Map<string, readonly Row[]>;

/** Minimum share of names with a common field, for the field to be listed only once. */
const COMMON = 0.64;

/** Returns the first field that at least this share of names has in the same form, or `undefined`. */
function commonRow(all: readonly (readonly Row[])[]): Row | undefined {
  const having = (row: Row) => all.filter((rows) => rows.some((each) => isDeepStrictEqual(each, row)));
  return all.flat().find((row) => having(row).length >= all.length * COMMON);
}

/** Fields of nested objects, each with the text for a reference to the object. */
type KnownObjects = { readonly text: string; readonly fields: readonly Row[] }[];

/** Joins neighbouring names with the same fields into one entry. */
function sameRows(entries: readonly { readonly names: string; readonly rows: readonly Row[] }[]) {
  const all: { names: string; rows: readonly Row[] }[] = [];
  for (const { names, rows } of entries) {
    const last = all.at(-1);
    if (last && isDeepStrictEqual(last.rows, rows)) last.names += `, ${names}`;
    else all.push({ names, rows });
  }
  return all;
}

/** Replaces the fields of a nested object by the name of an earlier object of the table with the same fields. */
function withoutKnownObjects(name: string, rows: readonly Row[], known: KnownObjects): readonly Row[] {
  const found: Row[] = [];
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as Row;
    const inside = new RegExp(`^\`${bare(row.field).replaceAll(/[[\].]/g, "\\$&")}(\\[\\])?\\.`);
    const last = rows.findIndex(({ field }, index) => index > at && !inside.test(field));
    const fields = rows
      .slice(at + 1, last < 0 ? rows.length : last)
      .map((each) => ({ ...each, field: each.field.replace(inside, "`") }));
    const same =
      fields.length < LEAST_REPEATED ? undefined : known.find((each) => isDeepStrictEqual(each.fields, fields));
    found.push(same ? { ...row, form: `${row.form}, as ${same.text}` } : row);
    if (same) at += fields.length;
    else if (fields.length > 0) known.push({ text: `\`${bare(row.field)}\` of \`${name}\``, fields });
  }
  return found;
}

/** Minimum number of equal rows for a reference in their place. */
const LEAST_REPEATED = 2;

/**
 * Replaces rows that an earlier name has in the same order by one row with a reference to that name. A shared type
 * (`types`) must repeat more rows than an earlier name.
 */
function withoutRepeats(rows: readonly Row[], known: Table, types: Table): readonly Row[] {
  const found: Row[] = [];
  for (let at = 0; at < rows.length; ) {
    const [repeat, ofType] = [longestRepeat(rows.slice(at), known), longestRepeat(rows.slice(at), types)];
    const { name, length } = ofType.length > Math.max(repeat.length, LEAST_REPEATED) ? ofType : repeat;
    const first = rows[at] as Row;
    if (length < LEAST_REPEATED) found.push(first);
    else {
      const fields = rows.slice(at, at + length).flatMap(({ field }) => (/[.[]/.test(field) ? [] : [field]));
      found.push({ field: fields.join(", "), kind: "", form: `as in \`${name}\``, says: "" });
    }
    at += length < LEAST_REPEATED ? 1 : length;
  }
  return found;
}

/** Returns the earlier name with the longest run of the first rows. A nested field cannot be first: it is not listed. */
function longestRepeat(rows: readonly Row[], known: Table): { readonly name: string; readonly length: number } {
  let longest = { name: "", length: 0 };
  if (/[.[]/.test(rows[0]?.field ?? "")) return longest;
  for (const [name, others] of known) {
    for (let from = 0; from < others.length; from++) {
      let length = 0;
      while (isDeepStrictEqual(rows[length], others[from + length]) && length < rows.length) length++;
      if (length > longest.length) longest = { name, length };
    }
  }
  return longest;
}

/** Returns the path to the object of a field. */
function placeOf({ field }: Row): string {
  return field.replace(/[^.]*$/, "").replace(/^.*, /, "");
}

/** Merges neighbouring rows that differ only in the names of their fields. */
function merged(rows: readonly Row[]): readonly Row[] {
  const all: Row[] = [];
  for (const row of rows) {
    const last = all.at(-1);
    const isAlike = last && isDeepStrictEqual({ ...last, field: placeOf(last) }, { ...row, field: placeOf(row) });
    if (isAlike) all.splice(-1, 1, { ...last, field: `${last.field}, ${row.field}` });
    else all.push(row);
  }
  return all;
}

/** Returns the name of a field without marks. */
function bare(field: string): string {
  return field.replaceAll(/[`?]/g, "");
}

/** Returns the fields of an object and its nested objects, without its type field (`without`). */
function rowsOf(schema: ProtocolSchema, without: readonly string[] = [], at = ""): Row[] {
  const kinds = kindsOf(schema);
  if (kinds) return rowsOfKinds(kinds, at);
  return Object.entries(schema.properties ?? {}).flatMap(([name, given]) => {
    const field = given as ProtocolSchema;
    if (at === "" && without.includes(name) && field.const !== undefined) return [];
    const path = `${at}${name}`;
    const { inner, mark } = within(field);
    const absent = schema.required?.includes(name) ? "" : "?";
    return [
      { field: `\`${path}${absent}\``, kind: "", form: formOf(field), says: field.description ?? "" },
      ...rowsOf(inner, [], `${path}${mark}.`),
    ];
  });
}

interface Kind {
  readonly tag: string;
  readonly value: string;
  readonly schema: ProtocolSchema;
}

/** Lists common fields first and once; other fields name their kinds. */
function rowsOfKinds(kinds: readonly Kind[], at: string): Row[] {
  const found = new Map<string, { readonly row: Row; readonly of: string[] }>();
  for (const { tag, value, schema } of kinds) {
    const { [tag]: _, ...properties } = schema.properties ?? {};
    for (const row of rowsOf({ ...schema, properties }, [], at)) {
      const key = JSON.stringify([row.field, row.kind, row.form]);
      const known = found.get(key);
      if (known) known.of.push(value);
      else found.set(key, { row, of: [value] });
    }
  }
  const rows = [...found.values()];
  const [{ tag } = { tag: "" }] = kinds;
  const all = oneOf(kinds.map(({ value }) => value));
  return [
    { field: `\`${at}${tag}\``, kind: "", form: all, says: "" },
    ...rows.filter(({ of }) => of.length === kinds.length).map(({ row }) => row),
    ...rows
      .filter(({ of }) => of.length < kinds.length)
      .map(({ row, of }) => ({ ...row, kind: `${row.kind} (for ${oneOf(of)})` })),
  ];
}

/** Returns the kinds of a union of objects, which one field distinguishes. */
function kindsOf(schema: ProtocolSchema): readonly Kind[] | undefined {
  const options = schema.oneOf as readonly ProtocolSchema[] | undefined;
  if (!options?.every(({ properties }) => properties)) return undefined;
  return options.map((option) => {
    const tag = ["type", "role", "decision"].find((name) => option.properties?.[name]) ?? "";
    return { tag, value: formOf(option.properties?.[tag] as ProtocolSchema), schema: option };
  });
}

/** Returns the item schema of a list, the non-null schema, or the schema itself; and the mark for it. */
function within(schema: ProtocolSchema): { readonly inner: ProtocolSchema; readonly mark: string } {
  if (schema.items) return { inner: schema.items as ProtocolSchema, mark: "[]" };
  const [other, none] = (schema.anyOf ?? []) as readonly ProtocolSchema[];
  return { inner: other && none?.type === "null" ? other : schema, mark: "" };
}

/** Returns the form of a value in a few words. */
function formOf(schema: ProtocolSchema): string {
  const { $ref, type, pattern, format } = schema;
  if ($ref) return `\`${referenceName($ref)}\``;
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return oneOf(schema.enum.map((each) => `\`${JSON.stringify(each)}\``));
  if (Array.isArray(type)) return oneOf(type.map((each) => formOf({ ...schema, type: each })));
  if (schema.properties && Object.keys(schema.properties).length > 0 && !schema.anyOf) return "object";
  const options = (schema.anyOf ?? schema.oneOf) as readonly ProtocolSchema[] | undefined;
  if (options) return kindsOf(schema) ? "object" : oneOf(options.map(formOf));
  switch (type) {
    case "array":
      if (schema.prefixItems) return `[${schema.prefixItems.map((each) => formOf(each as ProtocolSchema)).join(", ")}]`;
      return `${inGroup(formOf((schema.items ?? {}) as ProtocolSchema))}[${between(schema.minItems, schema.maxItems)}]`;
    case "string":
      if (format === "base64") return "base64";
      if (format === "uri") return "URL";
      if (pattern !== undefined && schema.maxLength === undefined) return `\`${pattern}\``;
      return `string${inParentheses(between(schema.minLength, schema.maxLength))}`;
    case "integer":
      return `integer${inParentheses(between(schema.minimum, schema.maximum))}`;
    case "number":
      return `number${inParentheses(between(schema.minimum, schema.maximum))}`;
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "object":
      return `object of ${formOf((schema.additionalProperties ?? {}) as ProtocolSchema)}`;
    default:
      return "any JSON";
  }
}

/** Formats the bounds of a number, a string's length, or a list's length: `1..200`, `0..`. */
function between(least?: number, most?: number): string {
  const low = least === undefined || least === Number.MIN_SAFE_INTEGER ? "" : least;
  const high = most === undefined || most === Number.MAX_SAFE_INTEGER ? "" : most.toLocaleString("en");
  return low === "" && high === "" ? "" : `${low}..${high}`;
}

/** Joins alternatives: `a`, `a or b`, `a, b or c`. */
function oneOf(alternatives: readonly string[]): string {
  const forms = [...new Set(alternatives)];
  return forms.length < 2 ? forms.join("") : `${forms.slice(0, -1).join(", ")} or ${forms.at(-1)}`;
}

/** Puts alternatives in parentheses, as in `(string or null)[]`. */
function inGroup(form: string): string {
  return form.includes(" or ") ? `(${form})` : form;
}

function inParentheses(text: string): string {
  return text === "" ? "" : `(${text})`;
}
