import { z } from "zod";
import type { KeyPath } from "./key.ts";

/** The parts of a JSON Schema that this program uses. */
export interface SchemaNode {
  readonly description?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly propertyNames?: SchemaNode;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
}

/** Converts a Zod schema to the JSON Schema of its input. */
export function schemaNode(schema: z.ZodType): SchemaNode {
  return z.toJSONSchema(schema, { io: "input" }) as SchemaNode;
}

/** Returns the valid names in the object at a path. */
export function knownNames(schema: z.ZodType, path: KeyPath): string[] {
  const names = nodesAt(schemaNode(schema), path).flatMap(({ properties = {}, propertyNames }) => [
    ...Object.keys(properties),
    ...(propertyNames?.enum ?? []).map(String),
  ]);
  return [...new Set(names)];
}

/** Returns the schemas of values at a path; an empty list for an invalid path. */
export function nodesAt(node: SchemaNode, path: KeyPath): SchemaNode[] {
  const forms = [...(node.anyOf ?? []), ...(node.oneOf ?? [])];
  if (forms.length > 0) return forms.flatMap((form) => nodesAt(form, path));
  const [part, ...rest] = path;
  if (part === undefined) return [node];
  const { properties, additionalProperties, items } = node;
  const named =
    typeof part === "string" && properties && Object.hasOwn(properties, part) ? properties[part] : undefined;
  const inner = typeof part === "number" ? items : (named ?? additionalProperties);
  return typeof inner === "object" ? nodesAt(inner, rest) : [];
}
