import type { NamedAgent } from "@banyan/core";
import { type McpServerEntry, mcpServerEntry, mcpServerName, readEntry } from "@banyan/tools/mcp/entry";
import { z } from "zod";
import { toolList } from "../definitions/tool-list.ts";
import { hookEntries } from "../hooks/entries.ts";
import { statusLineEntry } from "../hooks/status-line.ts";
import { permissionEntries } from "../permissions/rule.ts";
import { type LimitName, type LimitUnit, limits } from "./limits.ts";

// The message of each type says what is expected there, for whoever got it wrong; its description says what it is for.

const MODEL = 'the name of a model, as in "anthropic/claude-sonnet-5", or a short name';
const TEMPERATURE = "a number from 0 to 2";
const COUNT = "a whole number above 0";
const LEVELS = "a whole number, 0 or more";
const SHORT = 'a short name without a slash, as in "quick"';
const NAME = 'the name of a model as provider/model, as in "anthropic/claude-sonnet-5"';
const PRICE = "US dollars for a million tokens, 0 or more";
const DOLLARS = "an amount of US dollars above 0";
const SECONDS = "a number of seconds above 0";
const MEBIBYTES = "a number of MiB above 0 and at most 256";
const SHARE = "a share of the context, above 0 and below 1";
const DOMAIN = 'a domain, as in "registry.example.com" or "*.example.com"';
const PATHS = "a list of paths";
const PROMPT = 'a line of at most 200 characters, as in "Reply to {agent}:"';
const themes = ["auto", "dark", "light", "high-contrast", "color-blind"] as const;
const THEME = `${themes.map((name) => `"${name}"`).join(", ")} or a file of colours, as in "my-theme.json"`;
const YES_OR_NO = "true or false";
const KEYS = 'a key, as in "ctrl+g", or a list of keys; an empty list switches it off';

const model = z.string(MODEL).min(1, MODEL);
const text = z.string("a text").min(1, "a text");
const texts = (form: string) => z.array(z.string(form).min(1, form), form);
const yesOrNo = z.boolean(YES_OR_NO);
const count = z.int(COUNT).positive(COUNT);
const size = z.number(MEBIBYTES).positive(MEBIBYTES).max(256, MEBIBYTES);
const share = z.number(SHARE).gt(0, SHARE).lt(1, SHARE);
const price = z.number(PRICE).min(0, PRICE);

const facts = z.strictObject(
  {
    price: z
      .strictObject(
        {
          input: price.describe("What is sent."),
          output: price.describe("What is answered."),
          cached: price
            .describe("What is sent and was kept by the provider. As `input` when nothing is set.")
            .optional(),
          cacheWrite: price.describe("What the provider is to keep. As `input` when nothing is set.").optional(),
        },
        "an object with the prices input and output, and cached and cacheWrite if they differ",
      )
      .describe("US dollars for a million tokens.")
      .optional(),
    contextSize: count.describe("Tokens that fit into the model's context.").optional(),
    driver: z
      .enum(["package"], '"package"')
      .describe("`package` goes through the provider package of the AI SDK, where Banyan has a driver of its own.")
      .optional(),
    sees: yesOrNo
      .describe(
        "Whether it is shown the pictures and documents that tools bring; who attaches a picture to what it is asked is warned where it is not. As its name tells when nothing is set.",
      )
      .optional(),
    textCalls: yesOrNo
      .describe(
        "Whether calls count that the model writes as text (`<tool_call>`), in the chat format. They do when nothing is set.",
      )
      .optional(),
    profile: z
      .enum(["full", "small"], '"full" or "small"')
      .describe(
        "`small` gives it short instructions and few tools, and it finds the others. By its context when nothing is set: `small` up to 8,192 tokens.",
      )
      .optional(),
  },
  "an object with price, contextSize, driver, sees, textCalls or profile",
);

const units: { readonly [Unit in LimitUnit]: z.ZodNumber } = {
  count,
  dollars: z.number(DOLLARS).positive(DOLLARS),
  seconds: z.number(SECONDS).positive(SECONDS),
  levels: z.int(LEVELS).min(0, LEVELS),
};

const limitShape = Object.fromEntries(
  limits.map(([name, { unit, sentence }]) => [name, units[unit].describe(sentence).optional()]),
) as { readonly [Name in LimitName]: z.ZodOptional<z.ZodNumber> };

/** Limits as people write them: seconds, and the names of `limits`. */
export const limitSettings = z.strictObject(
  {
    ...limitShape,
    policy: z
      .enum(["wrap-up", "ask", "fail"], '"wrap-up", "ask" or "fail"')
      .describe("What happens at a limit: one last answer without tools, a question for more, or the end.")
      .optional(),
  },
  `an object with ${limits.map(([name]) => name).join(", ")} or policy`,
);

const connection = z.strictObject(
  {
    silence: z
      .number(SECONDS)
      .positive(SECONDS)
      .describe("Seconds without a sign of life after which it counts as broken. 120 when nothing is set.")
      .optional(),
    retryTime: z
      .number(SECONDS)
      .positive(SECONDS)
      .describe("Seconds for which a model that fails is asked again. 300 when nothing is set.")
      .optional(),
    attempts: count
      .describe("Model calls for one answer. As many as `retryTime` has room for when nothing is set.")
      .optional(),
    line: size.describe("MiB of one line that a model sends. 16 when nothing is set.").optional(),
    answer: size.describe("MiB of one answer. 64 when nothing is set.").optional(),
    arguments: size.describe("MiB of the arguments of one call. 32 when nothing is set.").optional(),
  },
  "an object with silence, retryTime, attempts, line, answer or arguments",
);

const compaction = z
  .strictObject(
    {
      enabled: yesOrNo
        .describe(
          "Compacts a conversation when its context is nearly full. Default `true`. `/compact` works in any case.",
        )
        .optional(),
      model: model
        .describe("The model that writes summaries. That of the conversation when nothing is set.")
        .optional(),
      threshold: share.describe("The share of the context from which older messages are summed up.").optional(),
      hint: share
        .describe(
          "The share from which a summary is made in the background, or else the agent is asked to write one. Below `threshold`.",
        )
        .optional(),
      instructions: text.describe("What every summary is to keep, in words for the model.").optional(),
      background: yesOrNo
        .describe(
          "Summaries are made while the agent works on. Default `true`; `false` with Ollama, llama.cpp and LM Studio, which answer one request at a time.",
        )
        .optional(),
    },
    "an object with enabled, model, threshold, hint, instructions or background",
  )
  .refine(({ threshold = 1, hint = 0 }) => hint < threshold, {
    path: ["hint"],
    message: "a share below that of threshold",
  });

const memory = z.strictObject(
  {
    enabled: yesOrNo.describe("Whether facts are remembered and recalled.").optional(),
    embedModel: model.describe("Finds facts by meaning too. Without it, by their words.").optional(),
  },
  "an object with enabled, embedModel or both",
);

const sandbox = z.strictObject(
  {
    enabled: z
      .enum(["auto", "require", "off"], '"auto", "require" or "off"')
      .describe("`auto`: where there is one. `require`: commands do not run without. `off`: never.")
      .optional(),
    network: z
      .strictObject(
        { allow: texts(DOMAIN).describe("Domains that commands may reach.").optional() },
        "an object with allow",
      )
      .describe("Nothing is reached that is not named here.")
      .optional(),
    writable: texts(PATHS).describe("Folders that commands may write to, beside the workspace.").optional(),
    home: texts(PATHS)
      .describe("What commands can read in your home folder, beside the toolchains and caches of builds.")
      .optional(),
  },
  "an object with enabled, home, network or writable",
);

const ADDRESS = "an address that begins with http:// or https://";
const search = z.strictObject(
  {
    provider: z
      .enum(["brave", "tavily", "searxng"], '"brave", "tavily" or "searxng"')
      .describe("Who is asked. Their keys are in `BRAVE_API_KEY` and `TAVILY_API_KEY`."),
    url: z
      .url({ protocol: /^https?$/, error: ADDRESS })
      .describe("Where: the address of your `searxng`.")
      .optional(),
  },
  "an object with provider, and url for a server of your own",
);

const agent = z.strictObject(
  {
    description: text.describe("What it is good for, as the agent that launches it is told."),
    model: model.describe("Its model. That of the agent that launches it when nothing is set.").optional(),
    tools: toolList(texts("a list of names of tools"))
      .describe("The tools that it has. All when nothing is set.")
      .optional(),
    instructions: text.describe("What it is told before its task."),
  },
  "an object with description and instructions, and model or tools if they differ",
);

const PROGRAM = "the name of a program, or its whole path";
const VARIABLES = 'an object with texts, as in {"LOG_LEVEL":"debug"}';

const acpAgent = z.strictObject(
  {
    command: z
      .string(PROGRAM)
      .regex(/^(?:[^/\\\0]+|(?:\/|[A-Za-z]:[\\/])[^\0]+)$/, PROGRAM)
      .describe("The program. It is not looked for in the workspace."),
    args: z.array(z.string("a text"), "a list of texts").describe("Its arguments.").optional(),
    env: z
      .record(z.string(), z.string(VARIABLES), VARIABLES)
      .describe(`Variables for it, beside those of yours that are no secrets. \`\${NAME}\` stands for one of yours.`)
      .optional(),
  },
  'an object, as in {"command":"my-agent","args":["--acp"]}',
);

const retention = z.strictObject(
  { days: count.describe("Conversations that nobody wrote to for so many days, and that bear no mark, are removed.") },
  'an object, as in {"days":90}',
);

const shape = {
  $schema: z
    .string("an address")
    .describe("For editors: the address of this schema. Nothing is loaded from it.")
    .optional(),
  model: model.describe("The model that is used when none is named.").optional(),
  fallbacks: z
    .array(model, 'a list of names, as in ["openai/gpt-5"]')
    .describe("Models that stand in, one after the other, for a model that stays overloaded, limited or unreachable.")
    .optional(),
  titleModel: model.describe("Gives conversations their titles. Without it, a title is how they began.").optional(),
  temperature: z
    .number(TEMPERATURE)
    .min(0, TEMPERATURE)
    .max(2, TEMPERATURE)
    .describe("How freely the model answers, from 0 to 2.")
    .optional(),
  maxTokens: count.describe("The most tokens of one answer.").optional(),
  aliases: z
    .record(z.string().regex(/^[^/]+$/, SHORT), model, "an object with short names")
    .describe("Short names for models, beside the built-in ones; they count more.")
    .optional(),
  models: z
    .record(z.string().regex(/^[^/]+\/./, NAME), facts, "an object with models by their names")
    .describe("What you know of models better than the catalogue.")
    .optional(),
  approval: z
    .enum(["plan", "ask", "edits", "all"], '"plan", "ask", "edits" or "all"')
    .describe(
      "What runs without asking: only looking, changing files of the workspace too, or everything; with `plan` only looking runs at all before a plan is allowed.",
    )
    .optional(),
  unconfined: yesOrNo.describe("Whether `approval` may be `all` where commands run without a sandbox.").optional(),
  permissions: permissionEntries
    .describe("Rules: a tool's name, with or without a pattern in parentheses, `mcp_server_*` or `*`.")
    .optional(),
  limits: limitSettings.describe("Bounds of a turn.").optional(),
  connection: connection
    .describe("For how long a model is waited for and asked again, and how much of it is read.")
    .optional(),
  instructions: texts(PATHS)
    .describe("Files that the agent reads before every conversation, beside AGENTS.md.")
    .optional(),
  compaction: compaction.describe("When a long conversation is summed up.").optional(),
  memory: memory.describe("What is kept from one conversation for others.").optional(),
  agents: z
    .record(
      z.string().regex(/^[\w-]{1,64}$/, "a name of letters, digits, _ and -"),
      agent,
      "an object with agents by their names",
    )
    .describe("Agents that can be launched by name, beside those in files.")
    .optional(),
  subAgentWorktrees: yesOrNo
    .describe(
      "Whether sub-agents that may write, and are launched together, work in a git worktree each; what each did is put together with the rest when it is done.",
    )
    .optional(),
  acpAgents: z
    .record(
      z.string().regex(/^[\w-]{1,32}$/, "a name of at most 32 letters, digits, _ and -"),
      acpAgent,
      "an object with agents by their names",
    )
    .describe("Agents of other programs, which speak the Agent Client Protocol: `acp/NAME` is a model.")
    .optional(),
  mcpServers: z
    .record(mcpServerName, mcpServerEntry, "an object with servers by their names")
    .describe("MCP servers whose tools the agent gets.")
    .optional(),
  toolShare: share
    .describe(
      "The share of the context that the tools of MCP servers may take; with more they are found when they are needed. 0.1 when nothing is set.",
    )
    .optional(),
  hooks: hookEntries
    .describe("Commands of your own that run at points of a conversation, as Claude Code and codex have them.")
    .optional(),
  statusLine: statusLineEntry
    .describe("A command of your own that says what stands below the terminal's prompt, as Claude Code has it.")
    .optional(),
  keyFiles: texts(PATHS)
    .describe("Patterns of files that are opened though they hold private keys. What they hold is redacted even then.")
    .optional(),
  sandbox: sandbox.describe("What commands can reach.").optional(),
  search: search.describe("Who searches the web for the agent.").optional(),
  retention: retention.describe("What is removed by itself. Nothing when this is not set.").optional(),
  keys: z
    .record(
      z.string(),
      z.union([z.string(KEYS).min(1, KEYS), texts(KEYS)], KEYS),
      "an object with actions and their keys",
    )
    .describe("Keys of the terminal, by action.")
    .optional(),
  prompt: z
    .string(PROMPT)
    .regex(/^(?=.*\S)\P{Cc}{1,200}$/u, PROMPT)
    .describe(
      "What the terminal's prompt says; {agent} stands for the agent's name. `Reply to {agent}:` when nothing is set.",
    )
    .optional(),
  notify: z
    .enum(["auto", "bell", "off"], '"auto", "bell" or "off"')
    .describe(
      "How the terminal tells you, while you look elsewhere, that something waits, failed, or took long and has ended: by a notification and the bell, the bell alone, or not.",
    )
    .optional(),
  vim: yesOrNo.describe("Whether the terminal's prompt has the keys of vi.").optional(),
  theme: z
    .union([z.enum(themes, THEME), z.string(THEME).regex(/\.json$/, THEME)], THEME)
    .describe("Colours of the terminal, by their name, or a file of your own.")
    .optional(),
};

/** The form of a settings file. */
export const settingsSchema = z.strictObject(shape, "an object with settings");

/** Settings, all of them optional. What each is for stands in the schema and in docs/configuration.md. */
export type Settings = z.infer<typeof settingsSchema>;

/** The name of a setting at the top of the file. */
export type SettingName = keyof Settings;

/** The schema of each setting, by its name. */
export const settingShape: Readonly<Record<SettingName, z.ZodType>> = settingsSchema.shape;

/** The agents of settings, that can be launched by name. */
export function agentsOf({ agents = {} }: Pick<Settings, "agents">): NamedAgent[] {
  return Object.entries(agents).map(([name, agent]) => ({ name, ...agent }));
}

/** The MCP servers of settings, by their names; those that are switched off included. */
export function mcpServersOf({ mcpServers = {} }: Pick<Settings, "mcpServers">): Record<string, McpServerEntry> {
  return Object.fromEntries(Object.entries(mcpServers).map(([name, entry]) => [name, readEntry(name, entry)]));
}
