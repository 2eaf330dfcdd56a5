import { accessSync, constants } from "node:fs";
import type { AgentOptions, Store } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { chooseModel, type EnvironmentVariables, type ModelChoice, ModelChoiceError } from "@banyan/models";
import type { OtlpOptions } from "@banyan/telemetry/otlp";
import type { OtlpVariables } from "@banyan/telemetry/variables";
import type { McpServerEntry } from "@banyan/tools/mcp/entry";
import { openWorkspace, WorkspaceError } from "@banyan/tools/workspace";
import { Drivers } from "../drivers/drivers.ts";
import { backupsIn } from "../equipment/equipment.ts";
import { gatherInstructions } from "../instructions/instructions.ts";
import type { ApprovalMode } from "../permissions/rule.ts";
import { joinRules, rulesFrom } from "../permissions/rule.ts";
import { directories } from "../places/directories.ts";
import { projectOf } from "../places/project.ts";
import { ProgramLog } from "../programs/program-log.ts";
import { redactor } from "../redaction/redactor.ts";
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
} from "../settings/index.ts";
import { Worktrees } from "../worktrees/worktrees.ts";
import { Host } from "./host.ts";
import { AGENT } from "./host-agent.ts";
import type { HostParts } from "./host-parts.ts";

/** Command-line flags. They override settings. */
export interface HostFlags {
  /** `provider/model`. */
  readonly model?: string;
  /** Settings whose values are numbers, as in a settings file. */
  readonly numbers?: Pick<Settings, "temperature" | "topP" | "seed" | "maxTokens" | "limits" | "connection">;
  /** Permission rules, as text. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** Addresses that commands in the sandbox may reach, in addition to those of the settings. */
  readonly network?: readonly string[];
  /** A file with further rules. */
  readonly rules?: string;
  /** `sandbox` also waits until the tools are ready. */
  readonly approval?: ApprovalMode;
  /** Permits approval `all` without a sandbox. */
  readonly unconfined?: boolean;
  /** True to use memory. Default: by the settings. */
  readonly memory?: boolean;
  /** Additional instructions: a text, or `@` and a file. */
  readonly instructions?: string;
  /** MCP servers of this run, such as an editor's. They replace servers of the same name. */
  readonly mcpServers?: Readonly<Record<string, McpServerEntry>>;
}

const FLAGS: OptionNames<HostFlags> = {
  model: true,
  numbers: true,
  allow: true,
  deny: true,
  network: true,
  rules: true,
  approval: true,
  unconfined: true,
  memory: true,
  instructions: true,
  mcpServers: true,
};

/**
 * Options of a host.
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
  /** The working directory. */
  readonly cwd: string;
  readonly env: EnvironmentVariables;
  readonly home: string;
  readonly flags?: HostFlags;
  /** True if a user can be asked. If not, calls that need approval are denied. */
  readonly canAsk: boolean;
  /**
   * True to use the settings, servers, agents and instructions of the project around `cwd`. Without this, no file of
   * the project is read (S5). `TrustRecord` contains the user's decision.
   */
  readonly trusted?: boolean;
  /** The required shape of a task's result. Default: a text. */
  readonly output?: AgentOptions["output"];
  /** The store of conversations; the host closes it. Default: SQLite files in the data folder. */
  readonly store?: Store | undefined;
  /** The machine whose files new conversations use, for stores that several machines share. */
  readonly machine?: string | undefined;
  /** Called with warnings for the user about an opened conversation. */
  notice?(sentence: string): void;
  /**
   * Takes over the end of `close`, so that a program can show its result first. `send` sends the last telemetry in at
   * most two seconds, and never rejects. Default: `close` sends it in at most half a second.
   */
  sending?(send: () => Promise<void>): void;
  /** Aborts the search for a model. */
  readonly signal?: AbortSignal;
  /** True to return before the tools are ready. The caller then awaits `host.ready()` before a turn. */
  readonly readyLater?: boolean;
}

const OPTIONS: OptionNames<HostOptions> = {
  cwd: "string!",
  env: "object",
  home: "string",
  flags: "object",
  canAsk: "boolean",
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
 * Reads settings, rules and instructions, chooses a model and builds an agent. Opens no conversation. Rejects with
 * `SettingsError`, `RuleError`, `WorkspaceError`, `ModelChoiceError` or `ApprovalError`, each with a sentence for users.
 * @example
 * const opened = await openHost({ cwd: ".", env: process.env, home: homedir(), canAsk: false });
 * await using session = await opened.newSession();
 * console.log((await opened.agent.send("What is in this directory?", { session })).text);
 * await opened.close();
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
  const rules = joinRules(
    rulesFrom(settings.permissions),
    flags.rules === undefined ? rulesFrom() : readRuleFile(flags.rules),
  );
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
    log,
    telemetry,
    places,
    workspace,
    project,
    env,
    home,
    canAsk,
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
    network: flags.network ?? [],
  });
  const mustBeAvailable = flags.approval === "sandbox";
  try {
    if (!options.readyLater || mustBeAvailable) await host.ready();
    // An unavailable mode of a setting is a notice, and that of a flag is an error.
    if (mustBeAvailable) await host.useApproval("sandbox");
    return host;
  } catch (error) {
    await host.close();
    throw error;
  }
}

/** Settings whose unknown names another part of the start reports. */
const REPORTED_ELSEWHERE = /^(?:memory|instructions|search)\b/;

/** Throws `SettingsError` if a writable folder of the sandbox is missing: no command could run. */
function withUnknownNames(configuration: Configuration, unknown: readonly SettingsFault[]): Configuration {
  const { settings, faults } = configuration;
  const [closed] = unknown.filter(({ key = "" }) => key.startsWith("sandbox.writable"));
  if (closed && settings.sandbox?.enabled !== "off") throw new SettingsError(closed);
  return { ...configuration, faults: [...faults, ...unknown.filter(({ key = "" }) => !REPORTED_ELSEWHERE.test(key))] };
}

function settingsOfFlags(flags: HostFlags): Settings {
  const { model, numbers, approval, unconfined, memory, allow, deny, mcpServers } = flags;
  return {
    ...numbers,
    model,
    approval,
    unconfined,
    memory: memory === undefined ? undefined : { enabled: memory },
    permissions: { allow: allow && [...allow], deny: deny && [...deny] },
    mcpServers: mcpServers as Settings["mcpServers"],
  };
}

/** The model of flags or settings, or the first usable model (B65). */
async function modelFor(
  configuration: Configuration,
  env: EnvironmentVariables,
  signal?: AbortSignal,
): Promise<ModelChoice> {
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

/** Names the settings file in an error about a model. */
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
    throw unreadableWorkspaceError(root, error);
  }
}

function unreadableWorkspaceError(root: string, cause: unknown): WorkspaceError {
  return new WorkspaceError(
    "root",
    `The workspace ${root} cannot be read. Allow reading this folder, or choose another one.`,
    {
      cause,
    },
  );
}

/** Maximum milliseconds to send the last telemetry. */
const LAST_SENDING = 500;

/** Opens telemetry if the user's OpenTelemetry variables ask for it. A project cannot set them. */
async function openTelemetry(
  env: EnvironmentVariables,
  {
    sending,
    ...how
  }: Pick<OtlpOptions, "redact" | "failed"> & { readonly sending: HostOptions["sending"] | undefined },
): Promise<HostParts["telemetry"]> {
  const { traces, metrics, notices } = await telemetryVariables(env);
  if (!traces && !metrics) return { notices };
  const { openOtlp } = await import("@banyan/telemetry/otlp");
  const otlp = await openOtlp({ env, service: "banyan", ...how });
  return { ...otlp, close: async () => (sending ? sending(() => otlp.close()) : otlp.close(LAST_SENDING)) };
}

/** Returns sentences about faults in the OpenTelemetry variables. */
export async function telemetryNotices(env: EnvironmentVariables): Promise<readonly string[]> {
  return (await telemetryVariables(env)).notices;
}

async function telemetryVariables(
  env: EnvironmentVariables,
): Promise<Pick<OtlpVariables, "traces" | "metrics" | "notices">> {
  if (!Object.keys(env).some((name) => name.startsWith("OTEL_"))) return { notices: [] };
  const { readOtlpVariables } = await import("@banyan/telemetry/variables");
  return readOtlpVariables(env);
}
