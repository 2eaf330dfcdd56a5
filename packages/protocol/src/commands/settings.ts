import { z } from "zod";
import { count, dollars, id, list, nothing, text } from "../shapes.ts";
import { command } from "./command.ts";

const price = z
  .object({ input: dollars, output: dollars, cached: dollars.optional(), cacheWrite: dollars.optional() })
  .describe("US dollars for a million tokens.");

const model = text(1, 200);

/** With which model, and how freely, agents work. */
export const settingsCommands = {
  "model.list": command(
    "The providers and whether they can be used; with one, its models that are known, and those that its server lists.",
    { provider: text(0, 100).optional() },
    z.object({
      providers: list(
        z.looseObject({
          name: z.string().describe("What stands before the slash in the name of a model."),
          usable: z.boolean(),
          reason: z.string().describe("Why, or what to do."),
          defaultModel: z.string().optional().describe("provider/model"),
          models: list(z.string()).optional().describe("What a server of the user's own lists, as provider/model."),
          price: price.optional().describe("What each of those costs, where that is the same for all."),
        }),
      ),
      models: list(
        z.looseObject({
          name: z.string().describe("provider/model"),
          price: price.optional().describe("Absent when unknown."),
          contextSize: count.optional().describe("Tokens."),
          sees: z
            .boolean()
            .optional()
            .describe("Whether it sees pictures, as far as its name tells or somebody has said."),
        }),
      ),
    }),
  ),
  "model.use": command(
    "Takes another model: for a conversation, from its next step on, or from the next turn on for all that have none of their own.",
    { model, conversation: id.optional() },
    nothing,
  ),
  "approval.use": command(
    "What runs without asking, from the next call on: plan (only looking, until a plan is allowed), ask (only looking) or edits (changing files of the workspace too) everywhere, edits in one run, or all, in one conversation whose person said yes to that, and in a sandbox. Open questions that it covers are answered.",
    {
      mode: z.enum(["plan", "ask", "edits", "all"]),
      conversation: id.optional().describe("For all: where."),
      confirmed: z.boolean().optional().describe("For all: a person was asked, and said yes."),
      run: id.optional().describe("For edits: the run in which they hold, and in no other."),
    },
    nothing,
  ),
  "prompt.list": command(
    "The prompts that files of the user and of a trusted project bring, and those of MCP servers. `prompt.say` says one.",
    {
      wait: z
        .int()
        .min(0)
        .max(30_000)
        .optional()
        .describe("Milliseconds to wait, at most, for MCP servers that are still starting; 0 when absent."),
    },
    z.object({
      prompts: list(
        z.looseObject({
          name: z.string().describe("As it is typed behind a slash; of an MCP server, `server:prompt`."),
          description: z.string(),
          hint: z.string().optional().describe("What may stand behind the name, for people."),
          arguments: list(z.object({ name: z.string(), description: z.string(), required: z.boolean() })).describe(
            "What it wants to be told, in the order in which it is typed. Those of files have no names.",
          ),
          server: z.string().optional().describe("The MCP server that brings it; absent when a file does."),
        }),
      ),
      starting: list(z.string()).describe("MCP servers that are still starting, and may bring more."),
    }),
  ),
  "equipment.read": command(
    "What stands around the agents of this server: the MCP servers and how they are doing, the hooks and their files, and whether memory is on, in a conversation where one is named.",
    { conversation: id.optional() },
    z.object({
      servers: list(
        z.looseObject({
          name: z.string(),
          status: z.enum(["connecting", "ready", "failed", "needs-auth", "disabled"]),
          tools: count.optional().describe("How many it has; when it is ready."),
          reason: z.string().optional().describe("Why it is not ready."),
        }),
      ),
      hooks: list(
        z.object({
          file: z.string().describe("Where they stand."),
          isUsed: z.boolean().describe("Those of a project that is not trusted are not run."),
          hooks: list(z.object({ event: z.string(), matcher: z.string(), command: z.string() })),
        }),
      ),
      memory: z
        .enum(["on", "off", "not-agreed"])
        .describe("off: for this conversation; not-agreed: nobody switched it on."),
    }),
  ),
} as const;
