import { isJsonRecord, type JsonRecord } from "@banyan/core/shown";

/** Returns a schema with `enum` in place of `const`, which Google refuses in the schema of a response. */
export function withoutConst(schema: unknown): unknown {
  if (!isJsonRecord(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      switch (key) {
        case "const":
          return ["enum", [value]];
        case "properties":
        case "$defs":
          return [key, isJsonRecord(value) ? mapValues(value) : value];
        case "items":
        case "additionalProperties":
        case "anyOf":
        case "oneOf":
          return [key, Array.isArray(value) ? value.map(withoutConst) : withoutConst(value)];
        default:
          return [key, value];
      }
    }),
  );
}

function mapValues(schemas: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withoutConst(schema)]));
}
