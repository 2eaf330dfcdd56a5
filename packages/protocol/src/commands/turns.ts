import type { Json } from "@banyan/core/conversation";
import { z } from "zod";
import { saidPart } from "../shapes/parts.ts";
import { count, engineSchema, id, json, listSchema, nothing, textSchema } from "../shapes/shapes.ts";
import { command } from "./command.ts";

const conversation = { conversation: id };
const delivery = z
  .enum(["steer", "queue", "interrupt"])
  .describe("steer: before the next call or model call. queue: after the turn. interrupt: ends the turn first.");

/** A tool that the client runs itself. */
export interface ClientTool {
  readonly name: string;
  readonly description: string;
  /** The arguments as a JSON Schema. */
  readonly input: { readonly [key: string]: Json };
}

/** At most 128 tools that the client runs itself. */
export const clientTools = listSchema(
  engineSchema<ClientTool>(
    z.object({
      name: z.string().regex(/^[\w-]{1,64}$/),
      description: textSchema(0, 10_000),
      input: z.record(z.string(), json).describe("A JSON Schema of the arguments, an object."),
    }),
  ),
).check(z.maxLength(128));

/** Options of a turn. */
const mode = z.enum(["chat", "task"]).optional();
const how = {
  model: textSchema(1, 200).optional().describe("For this turn: `provider/model` or an alias."),
  agent: textSchema(1, 64)
    .optional()
    .describe("For this turn: a named agent, such as `reviewer`, with its own instructions, tools and model."),
  mode: mode.describe("chat when absent: a turn ends when the model calls no tool."),
  tools: clientTools
    .optional()
    .describe("For this turn: client-side tools. A call asks a question in words, and the answer is its result."),
};

const parts = listSchema(saidPart).check(z.minLength(1));
const slash = z
  .boolean()
  .optional()
  .describe(
    "`/name words` at the beginning of the first text uses the prompt of that name, as `prompt.say` does. An unknown name is refused as `invalid`.",
  );

/** Result fields for a text that was added to the conversation. */
const written = {
  attached: listSchema(
    z.object({
      name: z.string().describe("As typed, without its @."),
      kind: z.string(),
      size: count.describe("Bytes of what the model gets."),
    }),
  ).describe("Attachments of its `@` names: files, folders, pages, resources."),
  problems: listSchema(z.string()).describe("Reasons for missing attachments, one sentence each."),
  redacted: z.boolean().describe("Secrets were removed."),
};

/** Options for the place of a message. */
const where = {
  at: id.optional().describe("Message to continue from; default: the last written."),
  run: id.optional().describe("Its live run."),
  delivery: delivery.optional().describe("steer when absent."),
};

const said = z.object({
  message: id,
  waits: z.boolean().describe("It is in the inbox until it is delivered."),
  ...written,
});

/** Commands that start, steer or stop an agent's work. */
export const turnCommands = {
  "turn.say": command(
    "Sends a message, with the command's id. With `run`, that run gets it by `delivery`. Without `run`, or if the run has ended, a turn begins below `at`.",
    {
      ...conversation,
      parts,
      ...where,
      asIs: z
        .boolean()
        .optional()
        .describe("Attaches no `@` names: the user did not write the text, such as a prompt of an MCP server."),
      slash,
      ...how,
    },
    said,
  ),
  "prompt.say": command(
    "Sends a prompt of `prompt.list`, filled in by the server, like `turn.say`, with the prompt's images and its model, if it names one. Sends nothing if the prompt is unknown, an argument is missing, or its MCP server does not respond.",
    {
      ...conversation,
      prompt: textSchema(1, 500).describe("Its name."),
      argument: z
        .string()
        .optional()
        .describe(
          'Text that the user typed after the name. A prompt with arguments splits it into words, in order; "double quotes" hold several words together, and the last argument gets the rest.',
        ),
      values: z.record(z.string(), z.string()).optional().describe("Arguments by name, instead of `argument`."),
      parts: listSchema(saidPart).optional().describe("Attachments, such as a picture."),
      ...where,
      ...how,
    },
    said,
  ),
  "message.add": command(
    "Adds a message without a turn and without attachments; the model gets it with the next message, a running turn at once, as with `turn.say`. The command's id becomes the message's.",
    {
      ...conversation,
      parts,
      at: id.nullable().optional().describe("Parent message; default: the last written."),
      run: id.optional().describe("Its live run."),
    },
    z.object({ message: id, waits: z.boolean().describe("It is in the inbox until it is delivered.") }),
  ),
  "turn.retry": command(
    "Asks again: a new answer to the last user message above `at`; with `parts`, a new sibling message. Nothing is overwritten, and a running or waiting turn continues.",
    { ...conversation, at: id.optional(), parts: parts.optional(), slash, ...how },
    z.object({ message: id.optional().describe("The new message, when there are parts."), ...written }),
  ),
  "turn.resume": command(
    "Continues from `at` without a new message: after a broken answer, from unanswered calls and messages, or with held input. Refused while an agent works there.",
    {
      ...conversation,
      at: id.optional(),
      ...how,
      mode: mode.describe("Default: the mode of the interrupted run there, else chat."),
    },
    nothing,
  ),
  "turn.hasten": command(
    "Begins a turn that waits for MCP servers (`turn.waiting`) without the missing ones.",
    { ...conversation, run: id.optional().describe("Id of the requesting command; default: all.") },
    z.object({ hastened: count }),
  ),
  "run.interrupt": command(
    "Ends a run, or all runs of the conversation; waiting input is held. A turn that has not begun is included, alone by its command's id.",
    { ...conversation, run: id.optional() },
    z.object({ interrupted: count }),
  ),
  "process.stop": command(
    "Ends a background process by its name (`p1`); the model learns of it in its next turn.",
    { ...conversation, process: z.string().max(100) },
    nothing,
  ),
  "input.edit": command(
    "Changes waiting input: text, place, delivery, or run (which sends held input).",
    {
      ...conversation,
      input: id,
      parts: parts.optional(),
      delivery: delivery.optional(),
      before: id.nullable().optional().describe("Moves before this input; null: to the end."),
      run: id.optional(),
    },
    z.object(written),
  ),
  "input.withdraw": command("Withdraws waiting input.", { ...conversation, input: id }, nothing),
} as const;
