import { defineTool, type Tool } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { NotExecutedError } from "@banyan/core/hosts";
import { z } from "zod";
import { confinementLine } from "../../sandbox/edge-notes.ts";
import { childEnvironment, type ProcessEnvironment } from "../../sandbox/environment.ts";
import { SandboxError } from "../../sandbox/messages.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { WorkspaceError } from "../files/error.ts";
import { BoundedOutput, type Redaction } from "../files/output.ts";
import { textMeta } from "../files/path-argument.ts";
import { checkRoot, type Workspace } from "../files/paths.ts";
import { loggingSeenFiles } from "../files/seen-files.ts";
import { BackgroundCommands } from "./background.ts";
import { type CommandEnd, runShellCommand } from "./command.ts";
import { CommandConnections } from "./command-connections.ts";
import type { LimitedCommands } from "./limited-commands.ts";
import type { Rerun } from "./offered-rerun.ts";
import { RunningCommands } from "./process-family.ts";
import { ProgressPace } from "./progress-pace.ts";
import { GIT_SETTINGS, steadyEnvironment, withoutEditors } from "./shell-environment.ts";
import { TerminalScreen } from "./terminal-screen.ts";

/** The environment, sandbox and redaction of commands. See {@link shellTool}. */
export interface ShellOptions {
  /** Variables for commands, in addition to the program's own variables without secrets; undefined removes a variable. */
  readonly env?: ProcessEnvironment | undefined;
  /** The sandbox for commands; absent: commands have all rights of the program. */
  readonly sandbox?: Sandbox | undefined;
  readonly redaction?: (() => Redaction) | undefined;
  /** Returns the paths that rules deny reading. The question about a command outside a sandbox lists them. */
  readonly denied?: (() => Promise<readonly string[]>) | undefined;
}

export const SHELL_OPTIONS: OptionNames<ShellOptions> = {
  env: true,
  sandbox: true,
  redaction: true,
  denied: "function",
};

const DEFAULT_TIMEOUT = 120_000;
const LONGEST_TIMEOUT = 3_600_000;
/** Characters. The system limits an argument to 128 KiB; longer text belongs in a file. */
const LONGEST_COMMAND = 30_000;

/** Bytes of output to keep, together below the engine's limit for a result. The end gets more, because errors are there. */
const KEPT = { head: 20_000, tail: 40_000 };

/** Variables that prevent prompts, pagers and colours, because commands have no terminal. `env` overrides these. */
export const WITHOUT_TERMINAL = { TERM: "dumb", PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0" };

const input = z.object({
  command: z.string().min(1).max(LONGEST_COMMAND).meta(textMeta("For bash.")),
  timeout: z
    .int()
    .min(1)
    .max(LONGEST_TIMEOUT)
    .optional()
    .describe(`Milliseconds. Default ${DEFAULT_TIMEOUT}; no limit with background.`),
  background: z
    .boolean()
    .optional()
    .describe("For servers and watchers: returns the first output and a name, such as p1; the command keeps running."),
});

/**
 * Returns the tool `shell {command, timeout?}`, which runs a command. Commands in `background` continue after the call.
 * @example new Agent({ model, tools: [shellTool(workspace, { env: { CI: "1" } })] });
 */
export function shellTool(
  workspace: Workspace,
  options: ShellOptions = {},
  background = new BackgroundCommands(),
  limited?: LimitedCommands,
): Tool {
  refuseUnknown("shellTool", options, SHELL_OPTIONS);
  const { env = {}, sandbox, redaction, denied } = options;
  const { running } = background;
  return defineTool({
    name: "shell",
    description:
      "Runs a command in bash in the workspace. Returns stdout and stderr together, and the exit code unless it is 0. " +
      "The command has no input and no terminal, and its child processes end with it. Long output is cut in the middle." +
      (sandbox === undefined ? "" : confines(sandbox)),
    input,
    brief: "Runs a command in bash. timeout: milliseconds.",
    effects: "external",
    about: ({ command }) => ({ command }),
    async execute({ command, timeout: given, background: stays = false }, context) {
      await orNotExecuted(checkRoot(workspace));
      const readOnly = limited?.readOnlyFor(context);
      const whenLost = readOnly && ((reason: string) => limited?.lose(context, "sandbox lost", reason));
      return loggingSeenFiles(workspace, context, async () => {
        const loopback = context.conversation.id;
        const connections = sandbox && new CommandConnections({ command, sandbox, context });
        if (stays) {
          const { root } = workspace;
          const ports = sandbox && background.ports.of(`${loopback} ${root}`, root, () => sandbox.loopback(loopback));
          const own = surroundingsIn(workspace, { env, sandbox });
          const surroundings = { ...own, connections, loopback, ports, timeout: given, readOnly };
          const starting = background.start({ ...surroundings, command, redaction: redaction?.() }, context);
          const started = await orNotExecuted(starting, whenLost);
          connections?.stay();
          return "end" in started
            ? commandResult(started.output, started.end, { timeout: given, sandbox, connections })
            : joinOutcome(
                started.output,
                `[Running in the background as ${started.name}${started.open}${started.waiting}]`,
              );
        }
        const timeout = given ?? DEFAULT_TIMEOUT;
        using progress = new ProgressPace((text) => context.progress(text));
        const { signal, hurry } = context;
        const onOutput = (text: string) => progress.push(text);
        const always = { env, redaction, timeout, signal, hurry, onOutput, running, connections, loopback };
        let how: typeof always & Pick<RunOptions, "sandbox" | "isDirect" | "readOnly"> = {
          ...always,
          sandbox,
          readOnly,
        };
        let before = "";
        for (;;) {
          const { end, output } = await orNotExecuted(runInWorkspace(workspace, command, how), whenLost);
          const again = await connections?.runsAgain(how.sandbox && hasFailed(end) ? output : undefined);
          if (again === undefined) return commandResult(before + output, end, how);
          before += joinOutcome(output, `[${RERUN[again]}]\n`);
          if (again === "network") how = { ...how, isDirect: true };
          if (again === "outside") how = { ...always, sandbox: undefined };
        }
      });
    },
    preview: async (_, { conversation }) => ({
      confinement: confinementLine(sandbox, conversation.id, sandbox ? [] : await shownDenied(workspace, denied)),
    }),
  });
}

const RERUN: Readonly<Record<Rerun, string>> = {
  same: "The user allowed the connection only now, and the command ran again.",
  network: "The user allowed the network of this machine for one more run, and the command ran again.",
  outside: "The user allowed one run outside the sandbox, and the command ran again.",
};

function hasFailed(end: CommandEnd): boolean {
  return end.type === "timed-out" || (end.type === "exited" && end.code !== 0);
}

async function shownDenied({ root }: Workspace, denied: ShellOptions["denied"]): Promise<readonly string[]> {
  const paths = await denied?.().catch(() => ["files that could not be listed"]);
  return (paths ?? []).map((path) => (path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path));
}

/**
 * Returns the result of a command that ended by itself, with notes about the limits of the sandbox that it met (S40).
 * Throws the report of any other end: such a call failed (T67).
 */
function commandResult(
  output: string,
  end: CommandEnd,
  { timeout, sandbox, connections }: Pick<RunOptions, "sandbox" | "connections"> & { timeout: number | undefined },
): string {
  const known = connections?.notes ?? [];
  // Known refusals explain more than the output.
  const notes = hasFailed(end) && known.length === 0 ? (sandbox?.edgeNotes(output) ?? []) : known;
  const declined = connections?.declined ? [connections.declined] : [];
  const noted = [...notes, ...declined].reduce((text, note) => joinOutcome(text, `[${note}]\n`), output);
  const report = commandReport(noted, end, timeout);
  // The engine knows by itself that it cancelled the call, and keeps the output.
  if (end.type === "timed-out" || end.type === "lost") throw new Error(report);
  return report;
}

/** `whenLost`: makes the error of a command whose sandbox failed. */
async function orNotExecuted<Done>(
  running: Promise<Done>,
  whenLost?: (reason: string) => NotExecutedError | undefined,
): Promise<Done> {
  try {
    return await running;
  } catch (error) {
    if (!(error instanceof WorkspaceError || error instanceof SandboxError)) throw error;
    const lost = error instanceof SandboxError ? whenLost?.(error.message) : undefined;
    throw lost ?? new NotExecutedError(error.message, { cause: error });
  }
}

/** Options of a command that runs in a workspace. See {@link runInWorkspace}. */
export interface RunOptions extends ShellOptions {
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly hurry?: AbortSignal | undefined;
  readonly onOutput?: (text: string) => void;
  readonly running?: RunningCommands;
  /** The name of the network that this command shares with others in the sandbox. Absent: a network of its own. */
  readonly loopback?: string | undefined;
  readonly connections?: CommandConnections | undefined;
  /** The command uses the network of this machine, although it runs in the sandbox. */
  readonly isDirect?: boolean | undefined;
  /** The paths that the command must not change, besides all paths outside the workspace. Absent: no such limit. */
  readonly readOnly?: readonly string[] | undefined;
}

const RUN_OPTIONS: OptionNames<RunOptions> = {
  ...SHELL_OPTIONS,
  timeout: true,
  signal: true,
  hurry: true,
  onOutput: true,
  running: true,
  loopback: true,
  connections: true,
  isDirect: true,
  readOnly: true,
};

/**
 * Runs a command like the tool `shell`: in the sandbox and without the environment's secrets. All child processes have
 * ended when this resolves. Cuts long output in the middle. Rejects if the shell cannot start.
 * @example const { output } = await runInWorkspace(workspace, "git status --short", { timeout: 10_000, signal });
 */
export async function runInWorkspace(
  workspace: Workspace,
  command: string,
  options: RunOptions,
): Promise<{ readonly end: CommandEnd; readonly output: string }> {
  refuseUnknown("runInWorkspace", options, RUN_OPTIONS);
  const {
    env,
    sandbox,
    redaction,
    onOutput = () => {},
    running = new RunningCommands(),
    connections,
    ...bounds
  } = options;
  const output = new ShownOutput(redaction?.());
  const watched = redaction?.();
  const end = await runShellCommand(command, running, {
    ...surroundingsIn(workspace, { env, sandbox }),
    timeout: bounds.timeout,
    signal: bounds.signal,
    loopback: bounds.loopback,
    isDirect: bounds.isDirect,
    readOnly: bounds.readOnly,
    ...(bounds.hurry && { hurry: bounds.hurry }),
    connections,
    onOutput(text, written) {
      output.push(written);
      onOutput(watched ? watched.push(text) : text);
    },
  });
  if (watched) onOutput(watched.end());
  return { end, output: output.end() };
}

/** The output of a command for the model: as on a terminal (F82), without secrets, cut in the middle if long. */
export class ShownOutput {
  readonly #screen = new TerminalScreen();
  readonly #output = new BoundedOutput(KEPT);
  readonly #redaction: Redaction | undefined;

  constructor(redaction: Redaction | undefined) {
    this.#redaction = redaction;
  }

  push(written: string): void {
    const text = this.#screen.push(written);
    this.#output.push(this.#redaction ? this.#redaction.push(text) : text);
  }

  end(): string {
    const text = this.#screen.take();
    this.#output.push(this.#redaction ? this.#redaction.push(text) + this.#redaction.end() : text);
    return this.#output.text();
  }
}

function surroundingsIn({ root }: Workspace, { env = {}, sandbox }: Pick<ShellOptions, "env" | "sandbox">) {
  return {
    directory: root,
    environment: childEnvironment(steadyEnvironment(process.env, [root]), {
      ...WITHOUT_TERMINAL,
      ...withoutEditors(process.env),
      ...GIT_SETTINGS,
      ...env,
    }),
    ...(sandbox !== undefined && { sandbox }),
  };
}

function confines({ network: { domains, canAsk } }: Sandbox): string {
  const known =
    domains.length === 0 ? "there is no network" : `only these domains can be reached: ${domains.join(", ")}`;
  const network = canAsk ? `${known}, unless the user allows a connection` : known;
  return ` In the sandbox, a command can write only in the workspace and $TMPDIR, and ${network}. Empty files there, such as .mcp.json, may be placeholders.`;
}

/** Returns the result for the model: the output, and the end of the command unless it succeeded. */
export function commandReport(output: string, end: CommandEnd, timeout: number | undefined): string {
  return joinOutcome(output, outcome(end, timeout));
}

function outcome(end: CommandEnd, timeout: number | undefined): string {
  switch (end.type) {
    case "exited":
      return end.code === 0 ? "" : `exit code ${end.code}`;
    case "timed-out":
      return `[timed out after ${timeout} ms; the command and its child processes were ended]`;
    case "lost":
      return "[the sandbox ended before the command, which may not have done all of its work]";
    case "cancelled":
      return "[cancelled; the command and its child processes were ended]";
  }
}

function joinOutcome(output: string, outcome: string): string {
  if (output === "") return outcome === "" ? "[no output]" : outcome;
  if (outcome === "") return output;
  return output.endsWith("\n") ? output + outcome : `${output}\n${outcome}`;
}
