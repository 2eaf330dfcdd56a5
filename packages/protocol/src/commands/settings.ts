import type { Call, Preview } from "@banyan/core/conversation";
import { z } from "zod";
import { type ApprovalMode, approvalModes } from "../shapes/approval-modes.ts";
import { planApproval } from "../shapes/parts.ts";
import { count, dollars, id, listSchema, nothing, textSchema } from "../shapes/shapes.ts";
import { command } from "./command.ts";

const price = z
  .object({ input: dollars, output: dollars, cached: dollars.optional(), cacheWrite: dollars.optional() })
  .describe("US dollars per million tokens.");

const model = textSchema(1, 200);

/** The approval modes of the first clients, which accept no other value of `approval`. */
const KNOWN_TO_ALL = ["plan", "ask", "edits", "all"] as const;

/** The settings that apply to conversations without settings of their own. */
export const settings = z.object({
  model: z.string(),
  approval: z.enum(KNOWN_TO_ALL).describe("Approval mode. `edits` if `sandbox` is true."),
  sandbox: z
    .boolean()
    .default(false)
    .describe("True if the approval mode is `sandbox`. Clients that do not know this mode show `edits`."),
  modes: listSchema(z.string())
    .default([...KNOWN_TO_ALL])
    .describe("Approval modes that the server offers now. A newer server may offer other modes."),
  unasked: listSchema(id).default([]).describe("Conversations with approval mode `all`."),
  carriedOut: listSchema(z.object({ conversation: id, approval: planApproval }))
    .default([])
    .describe(
      "Conversations in approval mode `plan` whose plan a user has allowed. Each entry has the mode in which the agent carries out the plan.",
    ),
});

export const settingsCommands = {
  "model.list": command(
    "Lists the providers, and whether each provider is usable. With `provider`, also lists the models of this provider that Banyan knows or that the provider's server offers.",
    { provider: textSchema(0, 100).optional() },
    z.object({
      providers: listSchema(
        z.looseObject({
          name: z.string().describe("The name of the provider, which begins the names of its models."),
          usable: z.boolean(),
          reason: z.string().describe("Why the provider is usable, or what the user can do to make it usable."),
          defaultModel: z.string().optional().describe("As `provider/model`."),
          models: listSchema(z.string()).optional().describe("Models of the user's own server, as `provider/model`."),
          price: price.optional().describe("The price that all these models share, in US dollars per million tokens."),
        }),
      ),
      models: listSchema(
        z.looseObject({
          name: z.string().describe("As `provider/model`."),
          price: price.optional().describe("US dollars per million tokens. Absent if the price is unknown."),
          contextSize: count.optional().describe("Size of the context in tokens."),
          sees: z
            .boolean()
            .optional()
            .describe("True if the model accepts images, according to its name or a setting."),
        }),
      ),
    }),
  ),
  "model.use": command(
    "Changes the model that a conversation uses from its next step on. Without a conversation, changes the default model from the next turn on.",
    { model, conversation: id.optional() },
    nothing,
  ),
  "approval.use": command(
    "Sets the approval mode from the next call on. Calls that wait for approval run if the new mode allows them. `plan`, `ask`, `edits` and `sandbox` apply to all conversations. With `run`, `edits` applies only to that run. `sandbox` fails with the reason if `modes` of the settings does not contain it. `all` applies to one conversation, only in a sandbox, and only after a user's confirmation.",
    {
      mode: z
        .enum(approvalModes)
        .describe(
          "Calls that run without a question. `plan`: only calls that read, until a user allows a plan. `ask`: only calls that read. `edits`: also changes of workspace files. `sandbox`: also commands in the sandbox. `all`: all calls.",
        ),
      conversation: id.optional().describe("The conversation to which the mode `all` applies."),
      confirmed: z.boolean().optional().describe("True if a user has confirmed the mode `all`."),
      run: id.optional().describe("The only run to which the mode `edits` applies."),
    },
    nothing,
  ),
  "prompt.list": command(
    "Lists the prompts from the user's files, from a trusted project's files, and from MCP servers.",
    {
      wait: z
        .int()
        .min(0)
        .max(30_000)
        .optional()
        .describe("Milliseconds to wait for MCP servers that are starting. Default: 0."),
    },
    z.object({
      prompts: listSchema(
        z.looseObject({
          name: z.string().describe("Name after the slash. For an MCP server: `server:prompt`."),
          description: z.string(),
          hint: z.string().optional().describe("Hint for users about the arguments."),
          arguments: listSchema(
            z.object({ name: z.string(), description: z.string(), required: z.boolean() }),
          ).describe("Arguments in order. The arguments of a prompt from a file have no names."),
          server: z
            .string()
            .optional()
            .describe("The MCP server that offers the prompt. Absent if the prompt comes from a file."),
        }),
      ),
      starting: listSchema(z.string()).describe("MCP servers that are still starting."),
    }),
  ),
  "equipment.read": command(
    "Lists the MCP servers with their states, and the hooks with their files. Also reports whether memory is on. With `conversation`, this report is about that conversation.",
    { conversation: id.optional() },
    z.object({
      servers: listSchema(
        z.looseObject({
          name: z.string(),
          status: z.enum(["connecting", "ready", "failed", "needs-auth", "disabled"]),
          tools: count.optional().describe("Number of tools, if the server is ready."),
          reason: z.string().optional().describe("Reason why the server is not ready."),
        }),
      ),
      hooks: listSchema(
        z.object({
          file: z.string().describe("The file that contains these hooks."),
          isUsed: z.boolean().describe("False if the hooks do not run, because the user does not trust the project."),
          hooks: listSchema(z.object({ event: z.string(), matcher: z.string(), command: z.string() })),
        }),
      ),
      memory: z
        .enum(["on", "off", "not-agreed"])
        .describe("`off`: memory is off for this conversation. `not-agreed`: no user agreed to memory."),
    }),
  ),
  "sandbox.read": command(
    "Reports the sandbox in which commands run, and the network addresses that commands can reach. With `conversation`, the report is about that conversation.",
    { conversation: id.optional() },
    z.object({
      state: z
        .string()
        .describe("One sentence that says whether commands run in a sandbox, and which limits the sandbox has."),
      addresses: listSchema(
        z.object({
          address: z.string().describe("The address, for example `example.org`, `*.example.org` or `example.org:443`."),
          lasts: z.enum(["conversation", "always"]).describe("`always`: in all conversations, by the settings."),
        }),
      ),
      ports: listSchema(z.int())
        .default([])
        .describe(
          "Ports of commands in this workspace. The user has agreed that Banyan opens these ports on `127.0.0.1` without another question.",
        ),
      hidden: listSchema(z.string())
        .default([])
        .describe(
          "Paths that commands cannot read, because deny rules forbid reading them. A path is absolute, or relative to the workspace.",
        ),
    }),
  ),
  "address.revoke": command(
    "Revokes a network address that `sandbox.read` lists, also in the user's settings. A port is written as `:5173`. Connections that are open stay open.",
    { address: textSchema(1, 300), conversation: id.optional() },
    z.object({
      revoked: z.boolean().describe("False if there was nothing to revoke, because the address was not allowed."),
    }),
  ),
} as const;

/** Model and approval settings of the server. See {@link approvalIn}. */
export type ServerSettings = z.infer<typeof settings>;

/**
 * Returns the settings of an approval mode, in a form that all clients understand.
 * @example approvalSettings("sandbox") // { approval: "edits", sandbox: true }
 */
export function approvalSettings(mode: ApprovalMode): Pick<ServerSettings, "approval" | "sandbox"> {
  return mode === "sandbox" ? { approval: "edits", sandbox: true } : { approval: mode, sandbox: false };
}

/**
 * Returns the approval modes that a server offers and this version knows, in the order of `approvalModes`.
 * @example const hasSandbox = offeredModes(client.welcome.settings).includes("sandbox");
 */
export function offeredModes({ modes }: Pick<ServerSettings, "modes">): readonly ApprovalMode[] {
  return approvalModes.filter((mode) => modes.includes(mode));
}

/**
 * Returns whether the answer to a question about a call may also set approval mode `sandbox`: the call runs a command in
 * the sandbox, and the mode is offered and asks less than the present mode.
 * @example
 * const choices = (call: Call, preview: Preview) =>
 *   offersSandbox(client.welcome.settings, "garden", call, preview) ? ["yes", "sandbox"] : ["yes"];
 */
export function offersSandbox(
  settings: ServerSettings,
  conversation: string,
  call: Pick<Call, "about">,
  preview: Preview | undefined,
): boolean {
  const mode = approvalIn(settings, conversation);
  const runsInSandbox = call.about?.command !== undefined && preview?.confinement !== undefined;
  return runsInSandbox && (mode === "ask" || mode === "edits") && offeredModes(settings).includes("sandbox");
}

/**
 * Returns the approval mode of a conversation, or of new conversations if no id is given.
 * @example const mode = approvalIn(client.welcome.settings, "garden");
 */
export function approvalIn(
  { approval, sandbox, unasked, carriedOut }: ServerSettings,
  conversation: string | undefined,
): ApprovalMode {
  const mode = sandbox ? "sandbox" : approval;
  if (conversation === undefined) return mode;
  if (unasked.includes(conversation)) return "all";
  return carriedOut.find((each) => each.conversation === conversation)?.approval ?? mode;
}
