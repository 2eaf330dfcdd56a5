import type { Json } from "@banyan/core/conversation";
import { z } from "zod";
import { saidPart } from "../shapes/parts.ts";
import { count, engineSchema, id, json, lineSchema, listSchema, nothing, textSchema } from "../shapes/shapes.ts";
import { command } from "./command.ts";

const conversation = { conversation: id };
const DELIVERY =
  "When the text is delivered. `steer`: before the turn's next tool call or model request. `queue`: after the turn. `interrupt`: at once; the turn is interrupted first.";
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
      input: z
        .record(z.string(), json)
        .describe("A JSON Schema that describes the arguments. The arguments are a JSON object."),
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
      "Conditions that must hold at the end of the turn. A condition is `!command` (must exit with 0), `tests pass`, or a sentence that the agent's model judges. Refused for an agent without a folder. `turn.resume`, and `turn.retry` without `parts`, keep the goal of the earlier turn.",
    ),
  tools: clientTools
    .optional()
    .describe(
      "Tools that the client runs in this turn. A call becomes a question to the client, and the answer to the question becomes the result of the call.",
    ),
};

const parts = listSchema(saidPart).check(z.minLength(1));
const slash = z
  .boolean()
  .optional()
  .describe(
    "If true and the first text begins with `/name words`, the server sends the prompt of that name, as `prompt.say` does. The server refuses an unknown name as `invalid`.",
  );

const written = {
  attached: listSchema(
    z.object({
      name: z.string().describe("The name as typed, without `@`."),
      kind: z.string(),
      size: count.describe("Number of bytes of the attachment that the model gets."),
    }),
  ).describe("The files, folders, pages or resources that the `@` names in the text attach."),
  problems: listSchema(z.string()).describe("One sentence for each missing attachment, with the reason."),
  redacted: z.boolean().describe("True if secrets were removed from the text."),
};

const where = {
  at: id.optional().describe("Message to continue from. Default: the newest message of the conversation."),
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
    "Sends a message, which gets the command's id. The message goes to the run `run`. Without `run`, the message goes to the live run whose last message is `at`. `delivery` decides when this run gets the message. If there is no such run, a turn begins after `at`.",
    {
      ...conversation,
      parts,
      ...where,
      asIs: z
        .boolean()
        .optional()
        .describe("If true, `@` names in the text attach nothing. Set this field if the user did not write the text."),
      slash,
      ...how,
    },
    said,
  ),
  "prompt.say": command(
    "Sends a prompt that `prompt.list` lists, in the same way as `turn.say`. The server fills in the arguments and adds the prompt's images. If the prompt names a model, the turn uses that model. Fails if the prompt is unknown, an argument is missing, or the prompt's MCP server does not respond.",
    {
      ...conversation,
      prompt: textSchema(1, 500).describe("Name of the prompt."),
      argument: z
        .string()
        .optional()
        .describe(
          'Text that the user typed after the name. A prompt with arguments splits the text into words. "Double quotes" hold several words together. The last argument gets the rest.',
        ),
      values: z
        .record(z.string(), z.string())
        .optional()
        .describe("The arguments by name. Use either this field or `argument`."),
      parts: listSchema(saidPart).optional().describe("Attachments, such as an image."),
      ...where,
      ...how,
    },
    said,
  ),
  "message.add": command(
    "Adds a message without attachments. The message gets the command's id. A running turn gets the message as with `turn.say`. If no turn is running, none begins; the model gets the message with the next `turn.say`.",
    {
      ...conversation,
      parts,
      at: id.nullable().optional().describe("Parent message. Default: the newest message of the conversation."),
      run: id.optional().describe("The live run that gets the message."),
    },
    z.object({ message: id, waits: z.boolean().describe("True if the message waits in the inbox.") }),
  ),
  "history.add": command(
    "Adds the messages of a conversation with another program, in order. No turn begins. The last message gets the command's id. If a call has no result, a note becomes its result.",
    {
      ...conversation,
      messages: listSchema(z.record(z.string(), json))
        .check(z.minLength(1))
        .describe("Messages in the format of the AI SDK, OpenAI or Anthropic, without system messages."),
      at: id
        .nullable()
        .optional()
        .describe(
          "The message after which the new messages are added. Default: the newest message of the conversation.",
        ),
    },
    z.object({ message: id.nullable().describe("The last added message, or `at` if all messages are empty.") }),
  ),
  "turn.retry": command(
    "Asks the model for another answer, on a new branch. The model answers the last user message above `at`. With `parts`, the branch begins with a new user message instead. A turn that runs or waits on the old branch continues.",
    {
      ...conversation,
      at: id.optional().describe("A message of the branch. Default: the newest message of the conversation."),
      parts: parts.optional(),
      slash,
      ...how,
    },
    z.object({ message: id.optional().describe("The new message, if `parts` was given."), ...written }),
  ),
  "turn.resume": command(
    "Continues from `at` without a new message. Requests an interrupted answer again, runs calls that have no results, answers unanswered messages, and sends held messages (see `run.interrupt`). Refused while an agent works on that branch.",
    {
      ...conversation,
      at: id.optional().describe("Message to continue from. Default: the newest message of the conversation."),
      ...how,
      mode: mode.describe("Mode of the turn. Default: the mode of the interrupted run, or else `chat`."),
    },
    nothing,
  ),
  "turn.hasten": command(
    "Begins a turn that has been waiting for MCP servers (`turn.waiting`). The turn goes without the servers that are not ready.",
    {
      ...conversation,
      run: id.optional().describe("Id of the command that requested the turn. Default: all waiting turns."),
    },
    z.object({ hastened: count.describe("Number of turns that begin.") }),
  ),
  "run.interrupt": command(
    "Ends one run, or all runs of the conversation. The messages that wait for an ended run are then held: the server delivers a held message only after a user sends it. To cancel a turn that has not begun, set `run` to the id of the command that requested the turn.",
    { ...conversation, run: id.optional().describe("The run to end. Default: all runs.") },
    z.object({ interrupted: count.describe("Number of ended runs.") }),
  ),
  "process.stop": command(
    "Ends the background process with this name, such as `p1`. The model learns in its next turn that the process has ended.",
    { ...conversation, process: z.string().max(100) },
    nothing,
  ),
  "input.edit": command(
    "Changes a waiting message: its text, its place among the waiting messages, when it is delivered (`delivery`), or the run that gets it (`run`). A new `run` also releases a message that was held back.",
    {
      ...conversation,
      input: id,
      parts: parts.optional(),
      delivery: delivery.optional().describe("When the text is delivered, as in `turn.say`."),
      before: id
        .nullable()
        .optional()
        .describe(
          "The message moves to the place before this other waiting message. `null` moves the message to the end.",
        ),
      run: id.optional(),
    },
    z.object(written),
  ),
  "input.withdraw": command("Withdraws waiting input.", { ...conversation, input: id }, nothing),
} as const;
