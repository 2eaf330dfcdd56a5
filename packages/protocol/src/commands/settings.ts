import { z } from "zod";
import { count, dollars, id, listSchema, nothing, textSchema } from "../shapes/shapes.ts";
import { command } from "./command.ts";

const price = z
  .object({ input: dollars, output: dollars, cached: dollars.optional(), cacheWrite: dollars.optional() })
  .describe("US dollars per million tokens.");

const model = textSchema(1, 200);

/** Commands about the model and the approval mode of agents. */
export const settingsCommands = {
  "model.list": command(
    "The providers and their usability; with one, its known models and those of its server.",
    { provider: textSchema(0, 100).optional() },
    z.object({
      providers: listSchema(
        z.looseObject({
          name: z.string().describe("The prefix of its models' names."),
          usable: z.boolean(),
          reason: z.string().describe("Why, or what to do."),
          defaultModel: z.string().optional().describe("provider/model"),
          models: listSchema(z.string())
            .optional()
            .describe("Models that the user's own server lists, as provider/model."),
          price: price.optional().describe("Common price of those models."),
        }),
      ),
      models: listSchema(
        z.looseObject({
          name: z.string().describe("provider/model"),
          price: price.optional().describe("Absent when unknown."),
          contextSize: count.optional().describe("Tokens."),
          sees: z.boolean().optional().describe("Sees pictures, by its name or a setting."),
        }),
      ),
    }),
  ),
  "model.use": command(
    "Changes the model: of a conversation, from its next step on; or the default, from the next turn on.",
    { model, conversation: id.optional() },
    nothing,
  ),
  "approval.use": command(
    "Sets the approval mode from the next call on: plan (only reads, until a plan is allowed), ask (only reads) or edits (also workspace files) everywhere, edits in one run, or all in one conversation after a user's yes, in a sandbox. Open questions that it covers are answered.",
    {
      mode: z.enum(["plan", "ask", "edits", "all"]),
      conversation: id.optional().describe("For all: the conversation."),
      confirmed: z.boolean().optional().describe("For all: a user confirmed."),
      run: id.optional().describe("For edits: the only run in which they hold."),
    },
    nothing,
  ),
  "prompt.list": command(
    "The prompts of the user's files, of a trusted project's files and of MCP servers. `prompt.say` sends one.",
    {
      wait: z
        .int()
        .min(0)
        .max(30_000)
        .optional()
        .describe("Longest wait for starting MCP servers, in milliseconds; default 0."),
    },
    z.object({
      prompts: listSchema(
        z.looseObject({
          name: z.string().describe("Its slash name; of an MCP server, `server:prompt`."),
          description: z.string(),
          hint: z.string().optional().describe("Hint about arguments, for users."),
          arguments: listSchema(
            z.object({ name: z.string(), description: z.string(), required: z.boolean() }),
          ).describe("Arguments in order. Those of files have no names."),
          server: z.string().optional().describe("The MCP server that brings it; absent when a file does."),
        }),
      ),
      starting: listSchema(z.string()).describe("MCP servers that are still starting."),
    }),
  ),
  "equipment.read": command(
    "The MCP servers and their state, the hooks and their files, and whether memory is on, for a conversation if named.",
    { conversation: id.optional() },
    z.object({
      servers: listSchema(
        z.looseObject({
          name: z.string(),
          status: z.enum(["connecting", "ready", "failed", "needs-auth", "disabled"]),
          tools: count.optional().describe("Number of tools; when ready."),
          reason: z.string().optional().describe("Why it is not ready."),
        }),
      ),
      hooks: listSchema(
        z.object({
          file: z.string().describe("Their file."),
          isUsed: z.boolean().describe("False for an untrusted project."),
          hooks: listSchema(z.object({ event: z.string(), matcher: z.string(), command: z.string() })),
        }),
      ),
      memory: z.enum(["on", "off", "not-agreed"]).describe("off: for this conversation; not-agreed: no user agreed."),
    }),
  ),
} as const;
