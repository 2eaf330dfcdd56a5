import { accessSync, constants } from "node:fs";
import type { AgentOptions, Limits, Store } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { chooseModel, type Environment, type ModelChoice, ModelChoiceError } from "@banyan/models";
import type { OtlpOptions } from "@banyan/telemetry/otlp";
import type { OtlpVariables } from "@banyan/telemetry/variables";
import type { McpServerEntry } from "@banyan/tools/mcp/entry";
import { openWorkspace, WorkspaceError } from "@banyan/tools/workspace";
import { Drivers } from "./drivers/drivers.ts";
import { backupsIn } from "./equipment/equipment.ts";
import { Host } from "./host.ts";
import { AGENT } from "./host-agent.ts";
import type { HostParts } from "./host-parts.ts";
import { gatherInstructions } from "./instructions/instructions.ts";
import type { ApprovalMode } from "./permissions/permissions.ts";
import { joinRules, type Rules, rulesFrom } from "./permissions/rule.ts";
import { directories } from "./places/directories.ts";
import { projectOf } from "./places/project.ts";
import { ProgramLog } from "./programs/program-log.ts";
import { redactor } from "./redaction/redactor.ts";
import {
  type Configuration,
  readConfiguration,
  readRuleFile,
  type Settings,
  SettingsError,
  type SettingsFault,
  settingAt,
  unknownNamesIn,
  userSettingsFile,
} from "./settings/index.ts";
import { Worktrees } from "./worktrees/worktrees.ts";

/** What a command line says; it counts more than the settings. */
export interface HostFlags {
  /** `provider/model`. */
  readonly model?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly limits?: Limits;
  readonly connection?: NonNullable<Settings["connection"]>;
  /** Permission rules, as text. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** A file with more of them. */
  readonly rules?: string;
  readonly approval?: ApprovalMode;
  /** `all` also where commands run without a sandbox. */
  readonly unconfined?: boolean;
  /** Whether memory is used; as the settings say when absent. */
  readonly memory?: boolean;
  /** More for the agent to know: a text, or `@` and a file. */
  readonly instructions?: string;
  /** MCP servers of this run alone, as an editor brings them; one takes the place of a server of the same name. */
  readonly mcpServers?: Readonly<Record<string, McpServerEntry>>;
}

const FLAGS: OptionNames<HostFlags> = {
  model: true,
  temperature: true,
  maxTokens: true,
  limits: true,
  connection: true,
  allow: true,
  deny: true,
  rules: true,
  approval: true,
  unconfined: true,
  memory: true,
  instructions: true,
  mcpServers: true,
};

/**
 * Where a host works, for whom, and with which settings of the moment.
 * @example
 * const host = await openHost({
 *   cwd: process.cwd(),
 *   env: process.env,
 *   home: homedir(),
 *   flags: { model: "demo/offline" },
 *   canAsk: false,
 *   trusted: true,
 *   output: z.object({ title: z.string() }),
 *   store,
 *   machine: "builder-1",
 *   notice: console.error,
 *   sending: (send) => setImmediate(send),
 *   signal: AbortSignal.timeout(10_000),
 *   readyLater: false,
 * });
 */
export interface HostOptions {
  /** The directory to work in. */
  readonly cwd: string;
  readonly env: Environment;
  readonly home: string;
  readonly flags?: HostFlags;
  /** Whether a person can be asked; where nobody can, what would be asked is denied. */
  readonly canAsk: boolean;
  /**
   * Whether what the project around `cwd` brings may be used: its settings, servers, agents and instructions. Without
   * it nothing of the project is read (S5). `TrustRecord` knows what the user decided.
   */
  readonly trusted?: boolean;
  /** What the result of a task must be; a text when absent. */
  readonly output?: AgentOptions["output"];
  /** Where conversations are, closed with the host; in SQLite files of the data folder when absent. */
  readonly store?: Store | undefined;
  /** The machine to which new conversations belong, whose files they work with: a label of theirs, where others share the store. */
  readonly machine?: string | undefined;
  /** Hears, in a sentence, what a user should know about a conversation that the host opens. */
  notice?(sentence: string): void;
  /**
   * Takes over the end of `close`, so that a program can tell its result first: `send` sends the last telemetry, which takes at
   * most two seconds, and never rejects. Without this option `close` itself sends it, for at most half a second.
   */
  sending?(send: () => Promise<void>): void;
  /** Ends the search for a model. */
  readonly signal?: AbortSignal;
  /** Do not wait until the agent has all that it works with: whoever begins a turn awaits `host.ready()`. */
  readonly readyLater?: boolean;
}

const OPTIONS: OptionNames<HostOptions> = {
  cwd: true,
  env: true,
  home: true,
  flags: true,
  canAsk: true,
  trusted: true,
  output: true,
  store: true,
  machine: true,
  notice: true,
  sending: true,
  signal: true,
  readyLater: true,
};

/**
 * Reads settings, rules and instructions, looks at the workspace, chooses a model and puts an agent together. Opens no
 * conversation. Rejects with `SettingsError`, `RuleError`, `WorkspaceError` or `ModelChoiceError`, each with one sentence
 * for a person.
 */
export async function openHost(options: HostOptions): Promise<Host> {
  refuseUnknown("openHost", options, OPTIONS);
  refuseUnknown("openHost", options.flags, FLAGS, "flags.");
  const { cwd, env, home, flags = {}, canAsk, trusted = false, signal } = options;
  const workspace = readableWorkspace(cwd);
  const places = directories(env, home);
  const project = trusted ? projectOf(workspace) : undefined;
  const sources = { env, home, project, flags: settingsOfFlags(flags) };
  const configuration = withUnknownNames(readConfiguration(sources), await unknownNamesIn(sources, workspace));
  const { settings } = configuration;
  const redact = redactor({ env });
  const instructions = gatherInstructions({
    name: AGENT,
    workspace,
    config: places.config,
    project,
    files: settings.instructions,
    flag: flags.instructions,
    redact,
  });
  const rules = rulesOf(settings, flags);
  const choice = await modelFor(configuration, env, signal);
  const worktrees = new Worktrees({ folder: places.worktrees, workspace, env });
  const drivers = new Drivers({ settings, env, workspace, worktrees, backups: backupsIn(places), redact });
  const driver = await drivers.of(choice.name).catch((error: unknown) => {
    throw withFile(error, configuration, { user: userSettingsFile({ env, home }), project: project?.settings });
  });
  const log = new ProgramLog(places.state, redact);
  const failed = (sentence: string) => log.note("telemetry", sentence);
  const telemetry = await openTelemetry(env, { redact, failed, sending: options.sending });
  const host = new Host({
    ...{ log, telemetry, places, workspace, project, env, home, canAsk },
    ...{
      configuration,
      rules,
      redact,
      instructions,
      choice,
      worktrees,
      drivers,
      driver,
      output: options.output,
      store: options.store,
      machine: options.machine,
      notice: options.notice ?? (() => {}),
    },
  });
  if (!options.readyLater) await host.ready();
  return host;
}

/** Settings whose names another part of the start looks up and reports. */
const REPORTED_ELSEWHERE = /^(?:memory|instructions|search)\b/;

/** Throws a `SettingsError` for a folder that the sandbox is to open and that does not exist: no command could run. */
function withUnknownNames(configuration: Configuration, unknown: readonly SettingsFault[]): Configuration {
  const { settings, faults } = configuration;
  const [closed] = unknown.filter(({ key = "" }) => key.startsWith("sandbox.writable"));
  if (closed && settings.sandbox?.enabled !== "off") throw new SettingsError(closed);
  return { ...configuration, faults: [...faults, ...unknown.filter(({ key = "" }) => !REPORTED_ELSEWHERE.test(key))] };
}

/** The flags that stand for settings. */
function settingsOfFlags(flags: HostFlags): Settings {
  const { model, temperature, maxTokens, approval, unconfined, memory, limits, connection, allow, deny, mcpServers } =
    flags;
  const { time, ...counts } = limits ?? {};
  return {
    model,
    temperature,
    maxTokens,
    approval,
    unconfined,
    memory: memory === undefined ? undefined : { enabled: memory },
    permissions: { allow: allow && [...allow], deny: deny && [...deny] },
    limits: { ...counts, time: time && time / 1_000 },
    connection,
    mcpServers: mcpServers as Settings["mcpServers"],
  };
}

function rulesOf({ permissions }: Settings, { rules }: HostFlags): Rules {
  return joinRules(rulesFrom(permissions), rules === undefined ? rulesFrom() : readRuleFile(rules));
}

/** The model that is named, or else the first that can be used (B65). */
async function modelFor(configuration: Configuration, env: Environment, signal?: AbortSignal): Promise<ModelChoice> {
  const { model } = configuration.settings;
  const choice = await chooseModel({ setting: model, env, signal });
  const [layer] = settingAt(configuration, ["model"])?.layers ?? [];
  switch (layer) {
    case "flags":
      return { ...choice, reason: `Model: ${model} (from the command line)` };
    case "environment":
      return { ...choice, reason: `Model: ${model} (from BANYAN_MODEL)` };
    case "project":
      return { ...choice, reason: `Model: ${model} (from the settings of this project)` };
    default:
      return choice;
  }
}

/** Where a model that cannot be used is named in a file, that is told: whoever put it there may not remember. */
function withFile(
  error: unknown,
  configuration: Configuration,
  files: Readonly<Partial<Record<string, string>>>,
): unknown {
  const [layer = ""] = settingAt(configuration, ["model"])?.layers ?? [];
  const file = files[layer];
  if (!(error instanceof ModelChoiceError) || file === undefined) return error;
  return new ModelChoiceError(error.code, `${file}: model: ${error.message}`);
}

function readableWorkspace(directory: string): string {
  const { root } = openWorkspace(directory);
  try {
    accessSync(root, constants.R_OK | constants.X_OK);
    return root;
  } catch (error) {
    throw unreadable(root, error);
  }
}

function unreadable(root: string, cause: unknown): WorkspaceError {
  return new WorkspaceError("root", `The workspace ${root} cannot be read. Allow it, or name another folder.`, {
    cause,
  });
}

/** Milliseconds for the last telemetry of a program that its user has ended: a chat, a server, an editor's agent. */
const LAST_SENDING = 500;

/** Opens what the variables of OpenTelemetry ask for; a project cannot, since these are variables of the user's. Without them nothing is loaded. */
async function openTelemetry(
  env: Environment,
  {
    sending,
    ...how
  }: Pick<OtlpOptions, "redact" | "failed"> & { readonly sending: HostOptions["sending"] | undefined },
): Promise<HostParts["telemetry"]> {
  const { traces, metrics, notices } = await variablesIn(env);
  if (!traces && !metrics) return { notices };
  const { openOtlp } = await import("@banyan/telemetry/otlp");
  const otlp = await openOtlp({ env, service: "banyan", ...how });
  return { ...otlp, close: async () => (sending ? sending(() => otlp.close()) : otlp.close(LAST_SENDING)) };
}

/** Sentences on faults in the variables of OpenTelemetry. */
export async function telemetryNotices(env: Environment): Promise<readonly string[]> {
  return (await variablesIn(env)).notices;
}

async function variablesIn(env: Environment): Promise<Pick<OtlpVariables, "traces" | "metrics" | "notices">> {
  if (!Object.keys(env).some((name) => name.startsWith("OTEL_"))) return { notices: [] };
  const { readOtlpVariables } = await import("@banyan/telemetry/variables");
  return readOtlpVariables(env);
}
