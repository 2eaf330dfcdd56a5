import { z } from "zod";
import type { CommandDefinition } from "./commands/command.ts";
import { listedConversation } from "./commands/conversations.ts";
import { type CommandName, commandSchema, commands } from "./commands/index.ts";
import { delta, event, feedItem, notice } from "./feed-item.ts";
import { hello, problem, serverFrame, settings } from "./frames.ts";
import { call, message } from "./message.ts";
import { about, fileChange, part, preview, saidPart, usage, userPart } from "./parts.ts";
import { callId, cursor, id, json } from "./shapes.ts";
import { node, question } from "./snapshot.ts";

/** A schema of JSON Schema 2020-12. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The place of a schema in the document of all: that of OpenAPI. */
const PLACE = "#/components/schemas/";

/** What commands, frames and events are made of, by the names that the description and docs/protocol.md have for it. */
const SHAPES: Readonly<Record<string, z.ZodType>> = {
  id,
  callId,
  json,
  cursor,
  usage,
  about,
  fileChange,
  preview,
  saidPart,
  userPart,
  part,
  call,
  message,
  question,
  node,
  listedConversation,
  settings,
  problem,
  feedItem,
};

/** All that is said, in one of these unions each, by its type. */
const UNIONS = { frame: serverFrame, event, delta, notice } as const;

/** The kinds of schemas that there are, with the names of those of each. */
export interface JsonSchemas {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly shapes: readonly string[];
  readonly commands: readonly CommandName[];
  readonly unions: Readonly<Record<keyof typeof UNIONS, readonly string[]>>;
}

/**
 * Everything of the protocol as JSON Schema, for programs in other languages: made of the schemas by which the server checks
 * what comes in. They refer to each other by their place in a description of OpenAPI; what a newer server adds fits them.
 */
export function jsonSchemas(): JsonSchemas {
  const registry = z.registry<{ id: string }>();
  const add = (name: string, schema: z.ZodType) => {
    registry.add(schema, { id: name });
    return name;
  };
  const shapes = Object.entries(SHAPES).map(([name, schema]) => add(name, schema));
  const frames = [...serverFrame.options, hello].map((frame) => add(`frame.${frame.shape.type.value}`, frame));
  const [events, deltas, notices] = [event, delta, notice].map(({ options }) =>
    options.map((option) => add(option.shape.type.value, option)),
  ) as [string[], string[], string[]];
  for (const [name, union] of Object.entries(UNIONS)) add(name, union);
  const names = Object.keys(commands) as CommandName[];
  for (const name of names) {
    const { result }: CommandDefinition = commands[name];
    add(name, commandSchema(name) as z.ZodType);
    // Several commands answer nothing, by one schema.
    add(`${name}.result`, result.describe(`The answer to ${name}.`));
  }
  const { schemas } = z.toJSONSchema(registry, {
    io: "input",
    uri: (name) => PLACE + name,
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === feedItem) jsonSchema.anyOf = ["event", "delta", "notice"].map(refTo);
    },
  });
  return {
    schemas: Object.fromEntries(
      Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema as JsonSchema]),
    ),
    shapes,
    commands: names,
    unions: { frame: frames, event: events, delta: deltas, notice: notices },
  };
}

/** A reference to the schema of a name. */
export function refTo(name: string): JsonSchema {
  return { $ref: PLACE + name };
}

/** The name that a reference is to. */
export function nameIn($ref: string): string {
  return $ref.slice(PLACE.length);
}
