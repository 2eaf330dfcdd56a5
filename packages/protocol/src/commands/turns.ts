import type { Json } from "@banyan/core/conversation";
import { z } from "zod";
import { saidPart } from "../parts.ts";
import { count, id, json, list, nothing, schemaOf, text } from "../shapes.ts";
import { command } from "./command.ts";

const conversation = { conversation: id };
const delivery = z
  .enum(["steer", "queue", "interrupt"])
  .describe("steer: before the next call or model call. queue: after the turn. interrupt: ends the turn first.");

/** A tool that whoever asks for a turn carries out. */
export interface ClientTool {
  readonly name: string;
  readonly description: string;
  /** The arguments as a JSON Schema. */
  readonly input: { readonly [key: string]: Json };
}

/** At most 128 tools that the client carries out. */
export const clientTools = list(
  schemaOf<ClientTool>(
    z.object({
      name: z.string().regex(/^[\w-]{1,64}$/),
      description: text(0, 10_000),
      input: z.record(z.string(), json).describe("A JSON Schema of the arguments, an object."),
    }),
  ),
).check(z.maxLength(128));

/** How the turn is taken. */
const mode = z.enum(["chat", "task"]).optional();
const how = {
  model: text(1, 200).optional().describe("For this turn: `provider/model` or an alias."),
  agent: text(1, 64)
    .optional()
    .describe(
      "For this turn: one of the named agents, such as `reviewer`, with its own instructions, tools and model.",
    ),
  mode: mode.describe("chat when absent: a turn ends when the model calls no tool."),
  tools: clientTools
    .optional()
    .describe(
      "For this turn: what whoever asks for it carries out. A call asks a question in words, and the answer is its result.",
    ),
};

const parts = list(saidPart).check(z.minLength(1));
const slash = z
  .boolean()
  .optional()
  .describe(
    "`/name words` at the beginning of the first text says what the prompt of that name says, as with `prompt.say`. A name that no prompt has is refused as `invalid`.",
  );

/** What became of a text on its way into the conversation. */
const written = {
  attached: list(
    z.object({
      name: z.string().describe("As it was typed, without its @."),
      kind: z.string(),
      size: count.describe("Bytes of what the model gets."),
    }),
  ).describe("What the text names with @ and what goes along with it: files, folders, pages, resources."),
  problems: list(z.string()).describe("Why something that is named does not go along, one sentence each."),
  redacted: z.boolean().describe("What looks like a secret was taken out."),
};

/** Where something is said. */
const where = {
  at: id.optional().describe("The message to go on from, any one; where it was last written to when absent."),
  run: id.optional().describe("The live run that it is for."),
  delivery: delivery.optional().describe("steer when absent."),
};

const said = z.object({
  message: id,
  waits: z.boolean().describe("It is in the inbox until it is delivered."),
  ...written,
});

/** What makes an agent work, and what stops it. */
export const turnCommands = {
  "turn.say": command(
    "Says something. The id of the command becomes the id of the message. With `run`, that run hears it, in the way of `delivery`; if it is over, and always without `run`, a turn begins below `at`.",
    {
      ...conversation,
      parts,
      ...where,
      asIs: z
        .boolean()
        .optional()
        .describe(
          "Nothing that the texts name with @ goes along: somebody else wrote them, as a prompt of an MCP server.",
        ),
      slash,
      ...how,
    },
    said,
  ),
  "prompt.say": command(
    "Says what a prompt of `prompt.list` says, filled in by the server, as `turn.say` says something: pictures of it go along, and where it names a model, the turn is taken with that. Nothing is said when there is no such prompt, when it is not told what it needs, or when its MCP server does not answer.",
    {
      ...conversation,
      prompt: text(1, 500).describe("Its name."),
      argument: z
        .string()
        .optional()
        .describe(
          'What a person typed behind the name: for a prompt with arguments words in their order, one in "double quotes" is one, and the last argument takes all that is left.',
        ),
      values: z
        .record(z.string(), z.string())
        .optional()
        .describe("Instead, each argument by its name, of a prompt that lists `arguments`."),
      parts: list(saidPart).optional().describe("What goes along behind what it says, such as a picture."),
      ...where,
      ...how,
    },
    said,
  ),
  "message.add": command(
    "Adds a message as it is, without a turn: what it names with @ does not go along, and the model gets it with what is said next. The id of the command becomes the id of the message. A run that works there hears it, as with `turn.say`.",
    {
      ...conversation,
      parts,
      at: id.nullable().optional().describe("The message to go below; where it was last written to when absent."),
      run: id.optional().describe("The live run that it is for."),
    },
    z.object({ message: id, waits: z.boolean().describe("It is in the inbox until it is delivered.") }),
  ),
  "turn.retry": command(
    "Asks again: a new answer beside those of the last user message on the branch that ends at `at`; with `parts`, a new message beside that one. Nothing is overwritten. A turn that works there, or waits for a user, goes on beside it.",
    { ...conversation, at: id.optional(), parts: parts.optional(), slash, ...how },
    z.object({ message: id.optional().describe("The new message, when there are parts."), ...written }),
  ),
  "turn.resume": command(
    "Goes on from `at` without a new message: after an answer that broke off, from calls and messages that nobody answered, or with what is held in the inbox. Refused while an agent works there.",
    {
      ...conversation,
      at: id.optional(),
      ...how,
      mode: mode.describe(
        "When absent, that of the run that was left in the middle there, if a process ended, else chat.",
      ),
    },
    nothing,
  ),
  "turn.hasten": command(
    "A turn that waits for MCP servers (`turn.waiting`) waits no longer: it begins without those that are not there.",
    { ...conversation, run: id.optional().describe("The id of the command that asked for it; all when absent.") },
    z.object({ hastened: count }),
  ),
  "run.interrupt": command(
    "Ends a run, or all of the conversation; what waited for it is held. A turn that was asked for and has not begun is meant too, alone by the id of its command.",
    { ...conversation, run: id.optional() },
    z.object({ interrupted: count }),
  ),
  "process.stop": command(
    "Ends what a call began and what has stayed, such as a server that runs, by what it is called (`p1`); the model is told with its next turn.",
    { ...conversation, process: z.string().max(100) },
    nothing,
  ),
  "input.edit": command(
    "Changes what waits in the inbox: its text, its place, how it is delivered, or the run that it is for (which sends what is held).",
    {
      ...conversation,
      input: id,
      parts: parts.optional(),
      delivery: delivery.optional(),
      before: id.nullable().optional().describe("Now stands before this one; last with null."),
      run: id.optional(),
    },
    z.object(written),
  ),
  "input.withdraw": command("Takes back what waits in the inbox.", { ...conversation, input: id }, nothing),
} as const;
