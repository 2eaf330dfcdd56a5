import { join } from "node:path";
import {
  askClient,
  launchAgent,
  type ModelDriver,
  type NamedAgent,
  type Store,
  shortenConversation,
  type Tool,
} from "@banyan/core";
import { worktreeAt } from "@banyan/core/conversation";
import type { LoopDriver } from "@banyan/core/drivers";
import { type PreviewContext, updatePlan } from "@banyan/core/hosts";
import type { ManagedMemory } from "@banyan/memory";
import type { EnvironmentVariables } from "@banyan/models";
import { toolFinder } from "@banyan/tools/finder";
import type { McpServers } from "@banyan/tools/mcp";
import type { NetworkAccess, Sandbox } from "@banyan/tools/sandbox";
import {
  BackgroundCommands,
  bringTool,
  type CommandLimits,
  loggingSeenFiles,
  openWorkspace,
  type ReadRefusal,
  settleIntents,
  snapshotTools,
  WorkspaceSnapshots,
  workspaceTools,
} from "@banyan/tools/workspace";
import { goalCopies, settleFirstStates } from "../checks/first-state.ts";
import { reviewer, unknownInAgents } from "../definitions/agents.ts";
import { readDefinitions } from "../definitions/all-definitions.ts";
import type { PromptCommand } from "../definitions/commands.ts";
import { type Skill, skillTool } from "../definitions/skills.ts";
import { type InstructionPart, serverInstructions } from "../instructions/instructions.ts";
import { type OpenServersOptions, openServers } from "../mcp/index.ts";
import { onlyReads } from "../permissions/shell/only-reads.ts";
import { absentInLists, withToolsMeant } from "../permissions/tool-list.ts";
import type { Directories } from "../places/directories.ts";
import type { ProjectPaths } from "../places/project.ts";
import { redactedTools } from "../redaction/redacted-tools.ts";
import type { Redact } from "../redaction/redactor.ts";
import { placeholderProblem } from "../redaction/span.ts";
import { describeFault, type Settings, userSettingsFile } from "../settings/index.ts";
import { mcpServersOf } from "../settings/schema.ts";
import { bringOptions } from "../worktrees/bring.ts";
import { PlacedTools } from "../worktrees/placed-tools.ts";
import { launchInWorktrees } from "../worktrees/sub-agents.ts";
import type { Worktrees } from "../worktrees/worktrees.ts";
import { networkAccess, openConfinement } from "./confinement.ts";
import { FileChecks } from "./file-checks.ts";
import { openMemory } from "./memory.ts";
import { OpenPorts } from "./open-ports.ts";
import { Cleanup } from "./tidy.ts";
import { toolsOfTheWeb } from "./web-tools.ts";

/** Options of `openEquipment`. */
export interface EquipmentOptions {
  readonly places: Directories;
  readonly store: Store;
  readonly workspace: string;
  /** The paths of the project, if the project is trusted. */
  readonly project: ProjectPaths | undefined;
  readonly settings: Settings;
  readonly env: EnvironmentVariables;
  readonly home: string;
  readonly redact: Redact;
  /** Addresses that commands may reach, in addition to those of the settings. */
  readonly network: readonly string[];
  readonly canAsk: boolean;
  readonly worktrees: Worktrees;
  /** Decides which commands may change only what snapshots keep (S37). */
  readonly limits: CommandLimits;
  /** Returns the rules' check for reading files in a folder. */
  whyNotReadIn(folder: string): ReadRefusal | undefined;
  /** Returns the paths in a folder that deny rules hide from programs in the sandbox (S42). */
  hiddenIn(folder: string): Promise<readonly string[]>;
  /** Returns the rule's reason against fetching an address that `from` redirects or links to. */
  whyNotFetched(address: URL, from: URL): string | undefined;
  /** Resolves the model of a sub-agent. `isNamed`: a user chose the model. */
  readonly resolveModel: (name: string, isNamed: boolean) => Promise<ModelDriver | LoopDriver>;
  /** Called with a sentence for the user about a language server that cannot run. */
  notice(sentence: string): void;
  /** Called when an MCP server changes its tools, prompts or instructions. */
  readonly onChange: () => void;
  /** The trace of a call, if telemetry is on. */
  readonly traceparent: OpenServersOptions["traceparent"];
}

/** The tools, servers, sandbox and memory of an agent. */
export interface Equipment extends AsyncDisposable {
  /** All current tools. Their output has no secrets. */
  readonly tools: readonly Tool[];
  readonly memory: ManagedMemory | undefined;
  /** Call after the user agreed to memory. */
  useMemory(): void;
  readonly mcp: McpServers | undefined;
  /** Checks of changed files. Absent without trust in the project, or without a sandbox. */
  readonly checks: Pick<FileChecks, "states" | "failedFormatters" | "freshServers"> | undefined;
  /** Instructions of MCP servers. */
  readonly instructions: readonly InstructionPart[];
  readonly agents: readonly NamedAgent[];
  readonly commands: readonly PromptCommand[];
  readonly skills: readonly Skill[];
  /** The tool that copies the file changes of one branch to another. Only users can start it. */
  readonly bring: Tool;
  /** The folder with previous contents of changed files. */
  readonly backups: string;
  /** Returns the snapshots of a workspace or worktree. */
  snapshotsOf(folder: string): WorkspaceSnapshots;
  /** Patterns of files to open although they contain private keys (S22). */
  readonly keyFiles: readonly string[];
  /** Resolves with whether commands run in a sandbox, after a trial in this process. */
  isConfined(): Promise<boolean>;
  /** Returns the sandbox for commands in the workspace or in a worktree. Rejects if a required sandbox is missing. */
  confinesIn(folder: string): Promise<Sandbox | undefined>;
  /** A sentence about the sandbox. */
  readonly sandbox: string;
  /** The network addresses that commands in the sandbox may reach. `undefined`: commands run without a sandbox. */
  readonly network: NetworkAccess | undefined;
  /** The ports that a user always opens. `undefined`: commands run without a sandbox. */
  readonly openPorts: Pick<OpenPorts, "list" | "remove"> | undefined;
  /** Returns the paths that the sandbox of a folder hides, because deny rules match them (S42). None without a sandbox. */
  hiddenIn(folder: string): Promise<readonly string[]>;
  /** Sentences for users about parts of the equipment that are missing. */
  readonly notices: readonly string[];
  /** Removes outdated data. Resolves with sentences for users about it. */
  tidy(): Promise<readonly string[]>;
}

/**
 * Opens an agent's equipment: tools, servers, sandbox and memory. Leaves out failed parts, and reports them in a
 * notice. Rejects if a required sandbox is missing.
 */
export async function openEquipment(options: EquipmentOptions): Promise<Equipment> {
  const { places, store, workspace, project, settings, env, home, redact, resolveModel } = options;
  const hiddenIn = (folder: string) => options.hiddenIn(folder);
  const { agents, commands, skills, faults, written } = readDefinitions(places, project);
  const { keyFiles = [] } = settings;
  const backups = backupsIn(places);
  const snapshots = snapshotsIn(places);
  const own = [places.config, places.data];
  const snapshotsOf = (folder: string) => openSnapshots(places, folder);
  await using opened = new AsyncDisposableStack();
  const network = await networkAccess({ ...options, file: userSettingsFile({ env, home }) });
  // Modes `sandbox` and `all` need a trial in this process (S37, S27).
  const { approval } = settings;
  const again = approval === "sandbox" || (approval === "all" && settings.unconfined !== true);
  const [confinement, unknown, web] = await Promise.all([
    openConfinement({ places, settings, workspace, env, home, network, hiddenIn, again }),
    unknownInAgents(written, skills, { settings, env, home, workspace }),
    toolsOfTheWeb(options, async (context) => {
      const confined = await confinesIn(await placed.folderAt(context));
      return confined && ((port) => confined.loopback(context.conversation.id)?.connect(port));
    }),
  ]);
  opened.use(confinement);
  let memory = openMemory({ places, workspace, settings, env, redact });
  opened.defer(() => memory?.memory.close());
  const { sandbox } = confinement;
  const mcp = await openMcp(options, sandbox);
  if (mcp) opened.use(mcp);
  const tidying = opened.use(new Cleanup({ store, redact, backups, snapshots, days: settings.retention?.days }));
  const removed = await tidying.tidy();
  const settled = [
    ...(await settleIntents(openWorkspace(workspace), backups)),
    ...(await snapshotsOf(workspace).settle()),
  ];
  await settleFirstStates(goalCopies(places));
  const openPorts = new OpenPorts(places);
  const background = new BackgroundCommands(openPorts);
  const toolsIn = (root: string, confined: Sandbox | undefined) => {
    const whyNotRead = options.whyNotReadIn(root);
    return workspaceTools({
      root,
      home,
      refuse: placeholderProblem,
      keyFiles,
      backups,
      snapshots,
      onlyReads,
      background,
      limits: options.limits,
      protected: own,
      redaction: redact.stream,
      watch: redact.watch,
      ...(whyNotRead && { whyNotRead }),
      ...(confined ? { sandbox: confined } : { denied: () => hiddenIn(root) }),
    });
  };
  const bringing = bringingIn(options, backups);
  // A server obeys files of the project, so it needs trust and a sandbox (S16).
  const checks =
    project &&
    sandbox &&
    opened.use(
      new FileChecks({ ...options, workspace: bringing.open(workspace), open: bringing.open, sandbox, backups }),
    );
  const ofSymbols = checks
    ? snapshotTools(snapshotsOf(workspace), await checks.symbolTools({ backups, refuse: placeholderProblem }))
    : NONE;
  const placed = opened.use(
    new PlacedTools(
      {
        worktrees: options.worktrees,
        tools(folder, confined) {
          const tools = toolsIn(folder ?? workspace, confined);
          return folder === undefined && checks ? checks.checked(tools) : tools;
        },
        async confine(folder) {
          const own = await openConfinement({ places, settings, workspace: folder, env, home, network, hiddenIn });
          // Calls that run unasked in a sandbox must not run without one elsewhere.
          if (sandbox && !own.sandbox) throw new Error(own.description);
          return own;
        },
      },
      sandbox,
    ),
  );
  const ofFiles = placed.tools;
  const confinesIn = async (folder: string): Promise<Sandbox | undefined> =>
    folder === workspace ? sandbox : placed.sandboxAt(folder);
  const bringer = new PlacedTools(
    {
      worktrees: options.worktrees,
      tools: (folder = workspace) =>
        snapshotTools(snapshotsOf(folder), [bringTool(bringing.open(folder), bringing.bring)]),
      confine: () => Promise.reject(new Error("Bringing files over needs no command.")),
    },
    undefined,
  );
  const [bring] = redactedTools(bringer.tools, redact) as [Tool];
  const listed = namedAgents(settings, [...agents, reviewer(ofFiles)]);
  const servers = Object.keys(settings.mcpServers ?? {});
  // `launchAgent` checks the agents, and reads their tools, before there are any.
  let tools: (servers: readonly Tool[]) => readonly Tool[] = () => NONE;
  const named: readonly NamedAgent[] = listed.map((agent) =>
    withToolsMeant(agent, () => tools(mcp?.tools ?? NONE), servers),
  );
  const ofSkills = skills.length > 0 ? [skillTool(skills)] : [];
  const launching = launchAgent({
    agents: named,
    resolveModel: (name) =>
      resolveModel(
        name,
        named.some(({ model }) => model === name),
      ),
  });
  const apart = { worktrees: options.worktrees, agents: named, tools: () => ofFiles, ...bringing };
  const control = [
    settings.subAgentWorktrees ? launchInWorktrees(launching, apart) : launching,
    shortenConversation(),
    { ...updatePlan(), folder: (context: PreviewContext) => placed.folderAt(context) },
    askClient(),
  ];
  const finder = mcp ? toolFinder(() => mcp.tools) : NONE;
  const toolsWith = (ofMemory: readonly Tool[]) =>
    rememberingLast((servers: readonly Tool[]) => [
      ...redactedTools(
        [
          ...ofFiles,
          ...ofSymbols,
          ...web.tools,
          ...ofMemory,
          ...ofSkills,
          ...finder,
          ...noticingChanges(servers, snapshotsOf(workspace)),
        ],
        redact,
      ),
      ...control,
    ]);
  tools = toolsWith(memory?.tools ?? NONE);
  const life = opened.move();
  return {
    get tools() {
      return tools(mcp?.tools ?? NONE);
    },
    get memory() {
      return memory?.memory;
    },
    useMemory() {
      const enabled = { ...settings, memory: { ...settings.memory, enabled: true } };
      memory ??= openMemory({ places, workspace, settings: enabled, env, redact });
      tools = toolsWith(memory?.tools ?? NONE);
    },
    mcp,
    checks,
    get instructions() {
      return mcp ? serverInstructions(mcp, redact) : [];
    },
    agents: named,
    commands,
    skills,
    bring,
    backups,
    snapshotsOf,
    keyFiles,
    isConfined: async () =>
      (await sandbox?.start().then(
        () => true,
        () => false,
      )) ?? false,
    confinesIn,
    get sandbox() {
      return confinement.description;
    },
    network: sandbox?.network,
    openPorts: sandbox && openPorts,
    hiddenIn: async (folder) => (sandbox ? hiddenIn(folder) : []),
    notices: [
      ...absentInLists(listed),
      ...[...faults, ...unknown].map(describeFault),
      ...web.notices,
      ...(memory?.notices ?? []),
      ...confinement.notices,
      ...removed,
      ...settled,
    ],
    tidy: () => tidying.tidy(),
    [Symbol.asyncDispose]: () => life.disposeAsync(),
  };
}

const NONE: readonly Tool[] = [];

function bringingIn(options: EquipmentOptions, backups: string) {
  const { worktrees, places, redact, env, home } = options;
  const whyNotReadIn = (folder: string) => options.whyNotReadIn(folder);
  const open = (folder: string) => openWorkspace(folder, [places.config, places.data], whyNotReadIn(folder), home);
  return { open, bring: { ...bringOptions(worktrees, { env, whyNotReadIn }), backups, watch: redact.watch } };
}

/** Returns the folder for backups: contents of files from before agents changed them. */
export function backupsIn({ data }: Directories): string {
  return join(data, "backups");
}

/** Returns the folder for snapshots of workspaces. */
export function snapshotsIn({ data }: Directories): string {
  return join(data, "snapshots");
}

/** Opens the snapshots of a workspace or worktree. All snapshots of a folder must leave out the same paths. */
export function openSnapshots(places: Directories, folder: string): WorkspaceSnapshots {
  return new WorkspaceSnapshots(openWorkspace(folder, [places.config, places.data]), { folder: snapshotsIn(places) });
}

/** Agents of the settings replace those of files, which replace built-in agents. */
function namedAgents({ agents = {} }: Settings, found: readonly NamedAgent[]): NamedAgent[] {
  const set = Object.entries(agents).map(([name, agent]) => ({ name, ...agent }) as NamedAgent);
  const all = [...set, ...found];
  return all.filter(({ name }, index) => all.findIndex((one) => one.name === name) === index);
}

async function openMcp(
  { settings, env, home, workspace, onChange, traceparent }: EquipmentOptions,
  sandbox: Awaited<ReturnType<typeof openConfinement>>["sandbox"],
): Promise<McpServers | undefined> {
  const servers = mcpServersOf(settings);
  if (Object.keys(servers).length === 0) return undefined;
  const wrap = sandbox && { wrap: (program: Parameters<typeof sandbox.wrap>[0]) => sandbox.wrap(program) };
  return openServers({ env, home, cwd: workspace }, servers, {
    onChange,
    ...(traceparent && { traceparent }),
    ...wrap,
  });
}

/** Returns the last result for the same input, so that the agent's tools keep their identity. */
function rememberingLast<From, To>(make: (from: From) => To): (from: From) => To {
  let last: { readonly from: From; readonly made: To } | undefined;
  return (from) => {
    if (last?.from !== from) last = { from, made: make(from) };
    return last.made;
  };
}

/** Makes snapshots before servers' tools change files, and marks the changes as seen by the calling branch (F78). */
function noticingChanges(tools: readonly Tool[], snapshots: WorkspaceSnapshots): Tool[] {
  const { workspace } = snapshots;
  return snapshotTools(snapshots, tools).map((tool) => ({
    ...tool,
    execute: (input, context) =>
      worktreeAt(context.conversation, context.path.at(-1)?.id) === undefined
        ? loggingSeenFiles(workspace, context, async () => tool.execute(input, context))
        : tool.execute(input, context),
  }));
}
