import { z } from "zod";
import type { CommandDefinition } from "./commands/command.ts";
import { listedConversation } from "./commands/conversations.ts";
import { type CommandName, commandSchema, commands } from "./commands/index.ts";
import { settings } from "./commands/settings.ts";
import { hello, problem, serverFrame } from "./frames.ts";
import { delta, event, feedItem, notice } from "./shapes/feed-item.ts";
import { call, message } from "./shapes/message.ts";
import {
  about,
  compaction,
  fileChange,
  part,
  preview,
  questionField,
  saidPart,
  seenFile,
  usage,
  userPart,
} from "./shapes/parts.ts";
import { callId, cursor, dollars, id, json, time } from "./shapes/shapes.ts";
import { node, question } from "./shapes/snapshot.ts";

/** A schema of JSON Schema 2020-12. See {@link refTo}. */
export type ProtocolSchema = z.core.JSONSchema.BaseSchema;

const PLACE = "#/components/schemas/";

/** Shared parts of commands, frames and events, by their names in the OpenAPI description and docs/protocol.md. */
const SHAPES: Readonly<Record<string, z.ZodType>> = {
  id,
  callId,
  json,
  time,
  dollars,
  cursor,
  usage,
  about,
  fileChange,
  seenFile,
  preview,
  saidPart,
  userPart,
  part,
  call,
  compaction,
  message,
  questionField,
  question,
  node,
  listedConversation,
  settings,
  problem,
  feedItem,
};

const UNIONS = { frame: serverFrame, event, delta, notice } as const;

/** All schemas, and for each kind of schema its names. See {@link jsonSchemas}. */
export interface JsonSchemas {
  readonly schemas: Readonly<Record<string, ProtocolSchema>>;
  readonly shapes: readonly string[];
  readonly commands: readonly CommandName[];
  readonly unions: Readonly<Record<keyof typeof UNIONS, readonly string[]>>;
}

/**
 * Returns the whole protocol as JSON Schema, for programs in other languages. The server checks frames with the same
 * schemas. References have the form of OpenAPI. Frames of newer servers also match these schemas.
 * @example await writeFile("protocol.json", JSON.stringify(jsonSchemas(), undefined, 2));
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
    // Several commands without a result share one schema.
    add(`${name}.result`, result.describe(`The server's answer to the command ${name}.`));
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
      Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema as ProtocolSchema]),
    ),
    shapes,
    commands: names,
    unions: { frame: frames, event: events, delta: deltas, notice: notices },
  };
}

/**
 * Returns a reference to a named schema.
 * @example refTo("message") // { $ref: "#/components/schemas/message" }
 */
export function refTo(name: string): ProtocolSchema {
  return { $ref: PLACE + name };
}

/**
 * Returns the name of the schema to which a reference points.
 * @example referenceName("#/components/schemas/message") // "message"
 */
export function referenceName($ref: string): string {
  return $ref.slice(PLACE.length);
}
