import type { NamedAgent } from "@banyan/core";
import { type McpServerEntry, mcpServerEntry, mcpServerName, readEntry } from "@banyan/tools/mcp/entry";
import { z } from "zod";
import { hookEntries } from "../hooks/entries.ts";
import { statusLineEntry } from "../hooks/status-line.ts";
import { approvalModes, permissionEntries } from "../permissions/rule.ts";
import { toolList } from "../permissions/tool-list.ts";
import { formatterSettings, languageServerSettings } from "./language-server-settings.ts";
import { type LimitName, type NumberSetting, type NumberUnit, numberSettings } from "./number-settings.ts";

// The message of each type gives the expected value, for errors; its description explains the setting.

const MODEL = 'the name of a model, as in "anthropic/claude-sonnet-5", or a short name';
const TEMPERATURE = "a number from 0 to 2";
const PROBABILITY = "a number from 0 to 1";
const COUNT = "a whole number above 0";
const LEVELS = "a whole number, 0 or more";
const SHORT = 'a short name without a slash, as in "quick"';
const NAME = 'the name of a model as provider/model, as in "anthropic/claude-sonnet-5"';
const PRICE = "US dollars per million tokens, 0 or more";
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
          input: price.describe("Input tokens."),
          output: price.describe("Output tokens."),
          cached: price
            .describe("Input tokens that the provider reads from its cache. Default: the price `input`.")
            .optional(),
          cacheWrite: price
            .describe("Input tokens that the provider writes to its cache. Default: the price `input`.")
            .optional(),
        },
        "an object with the prices input and output, and cached and cacheWrite if they differ",
      )
      .describe("US dollars per million tokens.")
      .optional(),
    contextSize: count.describe("Tokens that fit into the model's context.").optional(),
    driver: z
      .enum(["package"], '"package"')
      .describe("`package` uses the provider package of the AI SDK instead of Banyan's own driver.")
      .optional(),
    sees: yesOrNo
      .describe(
        "`true` shows the model images and documents from tools. `false` warns you when you attach an image. Default: by the model's name.",
      )
      .optional(),
    textCalls: yesOrNo
      .describe("Runs calls that models of the chat completions API write as text (`<tool_call>`). Default: `true`.")
      .optional(),
    profile: z
      .enum(["full", "small"], '"full" or "small"')
      .describe(
        "`small` gives the model short instructions and few tools; the model finds the other tools. Default: `small` up to a context of 8,192 tokens.",
      )
      .optional(),
  },
  "an object with price, contextSize, driver, sees, textCalls or profile",
);

const units: { readonly [Unit in NumberUnit]: z.ZodNumber } = {
  count,
  temperature: z.number(TEMPERATURE).min(0, TEMPERATURE).max(2, TEMPERATURE),
  probability: z.number(PROBABILITY).min(0, PROBABILITY).max(1, PROBABILITY),
  seed: z.int(LEVELS).min(0, LEVELS),
  dollars: z.number(DOLLARS).positive(DOLLARS),
  seconds: z.number(SECONDS).positive(SECONDS),
  levels: z.int(LEVELS).min(0, LEVELS),
};

function numberOf(setting: NumberSetting): z.ZodOptional<z.ZodNumber> {
  const { unit, sentence } = numberSettings[setting];
  return units[unit].describe(sentence).optional();
}

const limitNames = (Object.keys(numberSettings) as NumberSetting[]).flatMap(
  (setting) => (/^limits\.(.+)/.exec(setting)?.[1] as LimitName | undefined) ?? [],
);

const limitShape = Object.fromEntries(limitNames.map((name) => [name, numberOf(`limits.${name}`)])) as {
  readonly [Name in LimitName]: z.ZodOptional<z.ZodNumber>;
};

/** The schema of limits in settings, by the names of the limits. Times are in seconds. */
export const limitSettings = z.strictObject(
  {
    ...limitShape,
    policy: z
      .enum(["wrap-up", "ask", "fail"], '"wrap-up", "ask" or "fail"')
      .describe(
        "The action of a turn that reaches a limit. `wrap-up`: one last answer without tools. `ask`: a question to the user. `fail`: an error.",
      )
      .optional(),
  },
  `an object with ${limitNames.join(", ")} or policy`,
);

const connection = z.strictObject(
  {
    silence: numberOf("connection.silence"),
    retryTime: numberOf("connection.retryTime"),
    attempts: numberOf("connection.attempts"),
    line: size.describe("Maximum MiB in one line of an answer. Default: 16.").optional(),
    answer: size.describe("Maximum MiB in one answer. Default: 64.").optional(),
    arguments: size.describe("Maximum MiB in the arguments of one call. Default: 32.").optional(),
  },
  "an object with silence, retryTime, attempts, line, answer or arguments",
);

const compaction = z
  .strictObject(
    {
      enabled: yesOrNo
        .describe("Compacts a conversation when its context is nearly full. Default: `true`. `/compact` always works.")
        .optional(),
      model: model.describe("The model that writes summaries. Default: the model of the conversation.").optional(),
      threshold: share.describe("Share of the context at which Banyan compacts older messages.").optional(),
      hint: share
        .describe(
          "Share of the context, below `threshold`, at which Banyan begins a summary in the background, or asks the agent to write one.",
        )
        .optional(),
      instructions: text.describe("Instructions for summaries, such as facts that they must keep.").optional(),
      background: yesOrNo
        .describe(
          "Makes summaries while the agent works. Default: `true`, but `false` with Ollama, llama.cpp and LM Studio, which answer one request at a time.",
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
    enabled: yesOrNo.describe("Remembers facts from conversations and recalls them in others.").optional(),
    embedModel: model
      .describe("Embedding model that finds facts by meaning. Without it, Banyan finds facts by their words.")
      .optional(),
  },
  "an object with enabled, embedModel or both",
);

const sandbox = z.strictObject(
  {
    enabled: z
      .enum(["auto", "require", "off"], '"auto", "require" or "off"')
      .describe(
        "`auto`: use a sandbox where there is one. `require`: run no command without one. `off`: never use one.",
      )
      .optional(),
    network: z
      .strictObject(
        { allow: texts(DOMAIN).describe("Domains that commands can reach. All other domains are blocked.").optional() },
        "an object with allow",
      )
      .describe("Network access of commands.")
      .optional(),
    writable: texts(PATHS).describe("Folders, in addition to the workspace, in which commands can write.").optional(),
    home: texts(PATHS)
      .describe("Paths in your home folder that commands can read. They can always read toolchains and build caches.")
      .optional(),
  },
  "an object with enabled, home, network or writable",
);

const ADDRESS = "an address that begins with http:// or https://";
const search = z.strictObject(
  {
    provider: z
      .enum(["brave", "tavily", "searxng"], '"brave", "tavily" or "searxng"')
      .describe("The search service. Put its key into the environment variable `BRAVE_API_KEY` or `TAVILY_API_KEY`."),
    url: z
      .url({ protocol: /^https?$/, error: ADDRESS })
      .describe("The address of your `searxng` server.")
      .optional(),
  },
  "an object with provider, and url for a server of your own",
);

const agent = z.strictObject(
  {
    description: text.describe("Purpose of the agent, for agents that can launch it."),
    model: model.describe("Model of the agent. Default: the launching agent's model.").optional(),
    tools: toolList(texts("a list of names of tools")).describe("Tools of the agent. Default: all.").optional(),
    instructions: text.describe("Instructions that the agent reads before its task."),
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
      .describe("The program that starts the agent. Banyan does not search the workspace for it."),
    args: z.array(z.string("a text"), "a list of texts").describe("Arguments of the program.").optional(),
    env: z
      .record(z.string(), z.string(VARIABLES), VARIABLES)
      .describe(
        `Extra environment variables. Your own variables are passed on too, except secrets. \`\${NAME}\` inserts one of your variables, even a secret.`,
      )
      .optional(),
  },
  'an object, as in {"command":"my-agent","args":["--acp"]}',
);

const retention = z.strictObject(
  {
    days: count.describe(
      "Removes a conversation that has no star and no label, when it has had no new message for this many days.",
    ),
  },
  'an object, as in {"days":90}',
);

const shape = {
  $schema: z
    .string("an address")
    .describe("The address of this schema, for editors. Banyan loads nothing from the address.")
    .optional(),
  model: model.describe("The model to use when no model is named.").optional(),
  fallbacks: z
    .array(model, 'a list of names, as in ["openai/gpt-5"]')
    .describe("Fallback models, used in this order while a model is overloaded, rate-limited or unreachable.")
    .optional(),
  titleModel: model
    .describe("The model that writes titles. Without it, a title is the beginning of the conversation.")
    .optional(),
  temperature: numberOf("temperature"),
  topP: numberOf("topP"),
  seed: numberOf("seed"),
  maxTokens: numberOf("maxTokens"),
  aliases: z
    .record(z.string().regex(/^[^/]+$/, SHORT), model, "an object with short names")
    .describe("Short names for models. They override the built-in short names.")
    .optional(),
  models: z
    .record(z.string().regex(/^[^/]+\/./, NAME), facts, "an object with models by their names")
    .describe("Facts about models. They override the facts in the built-in catalogue.")
    .optional(),
  approval: z
    .enum(approvalModes, '"plan", "ask", "edits", "sandbox" or "all"')
    .describe(
      "Calls that run without a question. `ask`: calls that only read. `edits`: also edits in the workspace. `sandbox`: also commands in the sandbox. `all`: all calls. `plan`: calls that only read, until you approve a plan.",
    )
    .optional(),
  unconfined: yesOrNo.describe("Allows `approval` to be `all` where commands run without a sandbox.").optional(),
  permissions: permissionEntries
    .describe(
      "Rules about calls. A rule is a tool's name with or without a pattern in parentheses, `mcp_server_*`, or `*`.",
    )
    .optional(),
  limits: limitSettings.describe("Limits of a turn.").optional(),
  connection: connection.describe("Waiting times, retries and sizes of a model's answers.").optional(),
  instructions: texts(PATHS)
    .describe("Files that the agent reads before every conversation, in addition to AGENTS.md.")
    .optional(),
  compaction: compaction.describe("When Banyan compacts a long conversation.").optional(),
  memory: memory.describe("Memory: Banyan remembers facts from conversations for later conversations.").optional(),
  agents: z
    .record(
      z.string().regex(/^[\w-]{1,64}$/, "a name of letters, digits, _ and -"),
      agent,
      "an object with agents by their names",
    )
    .describe("Agents that can be launched by name. Agents in files are available, too.")
    .optional(),
  subAgentWorktrees: yesOrNo
    .describe(
      "Gives each sub-agent its own git worktree, if several are launched together and can write files. Their changes are merged when they finish.",
    )
    .optional(),
  acpAgents: z
    .record(
      z.string().regex(/^[\w-]{1,32}$/, "a name of at most 32 letters, digits, _ and -"),
      acpAgent,
      "an object with agents by their names",
    )
    .describe("Agents of other programs that speak the Agent Client Protocol. Choose one as the model `acp/NAME`.")
    .optional(),
  mcpServers: z
    .record(mcpServerName, mcpServerEntry, "an object with servers by their names")
    .describe("MCP servers that give the agent tools.")
    .optional(),
  languageServers: languageServerSettings
    .describe("Language servers that check changed files, in trusted folders and in the sandbox.")
    .optional(),
  formatters: formatterSettings
    .describe("Formatters of the project that format changed files, in trusted folders and in the sandbox.")
    .optional(),
  toolShare: share
    .describe(
      "Maximum share of the context for the tools of MCP servers. If these tools need more, the model must search for a tool before it can call the tool. Default: 0.1.",
    )
    .optional(),
  hooks: hookEntries
    .describe(
      "Hooks: your commands that run on certain events of a conversation. The format is that of Claude Code and codex.",
    )
    .optional(),
  statusLine: statusLineEntry
    .describe("Your command that writes the status line below the terminal's prompt, in the format of Claude Code.")
    .optional(),
  keyFiles: texts(PATHS)
    .describe(
      "Patterns of files that Banyan may open although they contain private keys. Banyan still redacts the keys.",
    )
    .optional(),
  sandbox: sandbox.describe("The sandbox: paths and domains that commands can use.").optional(),
  search: search.describe("The service that searches the web for the agent.").optional(),
  retention: retention.describe("Automatic removal of old conversations. Default: none.").optional(),
  keys: z
    .record(
      z.string(),
      z.union([z.string(KEYS).min(1, KEYS), texts(KEYS)], KEYS),
      "an object with actions and their keys",
    )
    .describe("Keys of the terminal: for each action, its keys.")
    .optional(),
  prompt: z
    .string(PROMPT)
    .regex(/^(?=.*\S)\P{Cc}{1,200}$/u, PROMPT)
    .describe("Text of the terminal's prompt. {agent} is replaced by the agent's name. Default: `Reply to {agent}:`.")
    .optional(),
  notify: z
    .enum(["auto", "bell", "off"], '"auto", "bell" or "off"')
    .describe(
      "How the terminal notifies you while you look at another window. `auto`: notification and bell. `bell`: only the bell. `off`: nothing.",
    )
    .optional(),
  vim: yesOrNo.describe("Uses vi keys in the terminal's prompt.").optional(),
  theme: z
    .union([z.enum(themes, THEME), z.string(THEME).regex(/\.json$/, THEME)], THEME)
    .describe("Colour theme of the terminal: the name of a theme, or the path of your own theme file.")
    .optional(),
};

/** The schema of a settings file. */
export const settingsSchema = z.strictObject(shape, "an object with settings");

/** The settings of a user or a project, all optional. docs/configuration.md describes each setting. */
export type Settings = z.infer<typeof settingsSchema>;

/** The name of a setting at the top of the file. */
export type SettingName = keyof Settings;

/** The schema of each setting, by its name. */
export const settingShape: Readonly<Record<SettingName, z.ZodType>> = settingsSchema.shape;

/** Returns the agents of the settings, which can be launched by name. */
export function agentsOf({ agents = {} }: Pick<Settings, "agents">): NamedAgent[] {
  return Object.entries(agents).map(([name, agent]) => ({ name, ...agent }));
}

/** Returns the MCP servers of the settings by name, including disabled ones. */
export function mcpServersOf({ mcpServers = {} }: Pick<Settings, "mcpServers">): Record<string, McpServerEntry> {
  return Object.fromEntries(Object.entries(mcpServers).map(([name, entry]) => [name, readEntry(name, entry)]));
}
