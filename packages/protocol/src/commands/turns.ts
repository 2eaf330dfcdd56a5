import type { Json } from "@banyan/core/conversation";
import { z } from "zod";
import { saidPart } from "../shapes/parts.ts";
import { count, engineSchema, id, json, lineSchema, listSchema, nothing, textSchema } from "../shapes/shapes.ts";
import { command } from "./command.ts";

const conversation = { conversation: id };
const DELIVERY =
  "When the text is delivered. `steer`: before the turn's next call or model call. `queue`: after the turn. `interrupt`: at once, after the turn was interrupted.";
const delivery = z.enum(["steer", "queue", "interrupt"]).describe(DELIVERY);

/**
 * A tool that the client runs itself.
 * @example const clock: ClientTool = { name: "clock", description: "Returns the time.", input: { type: "object" } };
 */
export interface ClientTool {
  readonly name: string;
  readonly description: string;
  /** The arguments as a JSON Schema. */
  readonly input: { readonly [key: string]: Json };
}

export const clientTools = listSchema(
  engineSchema<ClientTool>(
    z.object({
      name: z.string().regex(/^[\w-]{1,64}$/),
      description: textSchema(0, 10_000),
      input: z.record(z.string(), json).describe("A JSON Schema of the arguments, which are an object."),
    }),
  ),
).check(z.maxLength(128));

const mode = z.enum(["chat", "task"]).optional();
const how = {
  model: textSchema(1, 200).optional().describe("Model of this turn: `provider/model` or an alias."),
  agent: textSchema(1, 64)
    .optional()
    .describe("Named agent of this turn, such as `reviewer`, with its own instructions, tools and model."),
  mode: mode.describe("Mode of the turn. Default: `chat`. A chat turn ends when the model calls no tool."),
  goal: listSchema(lineSchema(2_000))
    .check(z.minLength(1), z.maxLength(20))
    .optional()
    .describe(
      "Conditions for the end of the turn: `!command` (must exit with 0), `tests pass`, or a sentence that the agent's model judges. Refused for an agent without a folder. `turn.resume`, and `turn.retry` without `parts`, keep the goal of the earlier turn.",
    ),
  tools: clientTools
    .optional()
    .describe("Client-side tools of this turn. A call asks a question in words, and the answer is the call's result."),
};

const parts = listSchema(saidPart).check(z.minLength(1));
const slash = z
  .boolean()
  .optional()
  .describe(
    "If true, `/name words` at the beginning of the first text sends the prompt of that name, as `prompt.say` does. An unknown name is refused as `invalid`.",
  );

const written = {
  attached: listSchema(
    z.object({
      name: z.string().describe("The name as typed, without `@`."),
      kind: z.string(),
      size: count.describe("Bytes that the model gets."),
    }),
  ).describe("Attachments for `@` names in the text: files, folders, pages or resources."),
  problems: listSchema(z.string()).describe("One sentence for each missing attachment, with the reason."),
  redacted: z.boolean().describe("True if secrets were removed from the text."),
};

const where = {
  at: id.optional().describe("Message to continue from. Default: the last written message."),
  run: id.optional().describe("The live run that gets the message."),
  delivery: delivery.optional().describe(`${DELIVERY} Default: \`steer\`.`),
};

const said = z.object({
  message: id,
  waits: z.boolean().describe("True if the message waits in the inbox."),
  ...written,
});

export const turnCommands = {
  "turn.say": command(
    "Sends a message, which gets the command's id. If `run` is given, or if a live run has `at` as its last message, this run gets the message as `delivery` says. If there is no such run, a turn begins after `at`.",
    {
      ...conversation,
      parts,
      ...where,
      asIs: z
        .boolean()
        .optional()
        .describe("If true, `@` names attach nothing, because the user did not write the text."),
      slash,
      ...how,
    },
    said,
  ),
  "prompt.say": command(
    "Sends a prompt of `prompt.list` like `turn.say`. The server fills in the arguments, adds the prompt's images, and uses the prompt's model, if any. Fails if the prompt is unknown, an argument is missing, or the prompt's MCP server does not respond.",
    {
      ...conversation,
      prompt: textSchema(1, 500).describe("Name of the prompt."),
      argument: z
        .string()
        .optional()
        .describe(
          'Text that the user typed after the name. A prompt with arguments splits the text into words. "Double quotes" hold several words together. The last argument gets the rest.',
        ),
      values: z.record(z.string(), z.string()).optional().describe("Arguments by name, in place of `argument`."),
      parts: listSchema(saidPart).optional().describe("Attachments, such as an image."),
      ...where,
      ...how,
    },
    said,
  ),
  "message.add": command(
    "Adds a message without attachments. The message gets the command's id. A running turn gets the message as with `turn.say`. If no turn is running, this command begins no turn, and the model gets the message with the next `turn.say`.",
    {
      ...conversation,
      parts,
      at: id.nullable().optional().describe("Parent message. Default: the last written message."),
      run: id.optional().describe("The live run that gets the message."),
    },
    z.object({ message: id, waits: z.boolean().describe("True if the message waits in the inbox.") }),
  ),
  "history.add": command(
    "Adds earlier messages of another program, in order and without a turn. The last message gets the command's id. A call without a result gets a result with a note.",
    {
      ...conversation,
      messages: listSchema(z.record(z.string(), json))
        .check(z.minLength(1))
        .describe("Messages in the format of the AI SDK, OpenAI or Anthropic, without system messages."),
      at: id.nullable().optional().describe("Parent of the first message. Default: the last written message."),
    },
    z.object({ message: id.nullable().describe("The last added message, or `at` if all messages are empty.") }),
  ),
  "turn.retry": command(
    "Asks the model for another answer to the last user message above `at`, on a new branch. With `parts`, a new message begins the branch. A running or waiting turn continues.",
    {
      ...conversation,
      at: id.optional().describe("A message of the branch. Default: the last written message."),
      parts: parts.optional(),
      slash,
      ...how,
    },
    z.object({ message: id.optional().describe("The new message, if `parts` was given."), ...written }),
  ),
  "turn.resume": command(
    "Continues from `at` without a new message: requests a broken-off answer again, runs calls without results, answers unanswered messages, or sends held input (see `run.interrupt`). Refused while an agent works on that branch.",
    {
      ...conversation,
      at: id.optional().describe("Message to continue from. Default: the last written message."),
      ...how,
      mode: mode.describe("Mode of the turn. Default: the mode of the interrupted run, or `chat`."),
    },
    nothing,
  ),
  "turn.hasten": command(
    "Begins a turn that waits for MCP servers (`turn.waiting`), without the servers that are not ready.",
    {
      ...conversation,
      run: id.optional().describe("Id of the command that requested the turn. Default: all waiting turns."),
    },
    z.object({ hastened: count.describe("Number of turns that begin.") }),
  ),
  "run.interrupt": command(
    "Ends one run, or all runs of the conversation. Input that waits for a run is then held: the server does not deliver it until a user sends it. To end a turn that has not begun, give the id of the command that requested it as `run`.",
    { ...conversation, run: id.optional().describe("The run to end. Default: all runs.") },
    z.object({ interrupted: count.describe("Number of ended runs.") }),
  ),
  "process.stop": command(
    "Ends a background process by its name (`p1`). The model learns in its next turn that the process has ended.",
    { ...conversation, process: z.string().max(100) },
    nothing,
  ),
  "input.edit": command(
    "Changes the text, place, delivery or run of waiting input. With a new `run`, held input is sent to that run.",
    {
      ...conversation,
      input: id,
      parts: parts.optional(),
      delivery: delivery.optional().describe("When the text is delivered, as in `turn.say`."),
      before: id.nullable().optional().describe("The input moves before this other input. `null` moves it to the end."),
      run: id.optional(),
    },
    z.object(written),
  ),
  "input.withdraw": command("Withdraws waiting input.", { ...conversation, input: id }, nothing),
} as const;
