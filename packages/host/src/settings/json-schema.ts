import { z } from "zod";
import { nodesAt, type SchemaNode } from "./known-names.ts";
import { settingsSchema } from "./schema.ts";

/** The JSON Schema of a settings file, as it is published in docs/settings.schema.json. */
export function settingsJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(settingsSchema, { io: "input" });
  return { $schema, title: "Settings of banyan", description: "~/.config/banyan/settings.json", ...schema };
}

/** A setting as docs/configuration.md lists it. */
export interface DocumentedSetting {
  /** `*` stands for a name. */
  readonly key: string;
  readonly description: string;
}

/** Every setting with what it is for; objects come before what is in them. */
export function documentedSettings(): DocumentedSetting[] {
  return settingsBelow("", z.toJSONSchema(settingsSchema, { io: "input" }) as SchemaNode);
}

function settingsBelow(around: string, node: SchemaNode): DocumentedSetting[] {
  return nodesAt(node, []).flatMap(({ properties = {}, additionalProperties }) => [
    ...Object.entries(properties).flatMap(([name, inner]) => {
      const key = around === "" ? name : `${around}.${name}`;
      return [{ key, description: inner.description ?? "" }, ...settingsBelow(key, inner)];
    }),
    ...(typeof additionalProperties === "object" ? settingsBelow(`${around}.*`, additionalProperties) : []),
  ]);
}
