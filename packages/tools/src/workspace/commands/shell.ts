import { defineTool, type Tool } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { NotExecutedError } from "@banyan/core/hosts";
import { z } from "zod";
import { childEnvironment, type Environment } from "../../sandbox/environment.ts";
import { SandboxError } from "../../sandbox/messages.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { WorkspaceError } from "../files/error.ts";
import { BoundedOutput, type Redaction } from "../files/output.ts";
import { checkRoot, type Workspace } from "../files/paths.ts";
import { whileSeen } from "../files/seen-files.ts";
import { BackgroundCommands, type StartedCommand } from "./background.ts";
import { type CommandEnd, runCommand } from "./command.ts";
import { RunningCommands } from "./process-family.ts";
import { ProgressPace } from "./progress-pace.ts";
import { GIT_SETTINGS, steadyEnvironment, withoutEditors } from "./shell-environment.ts";
import { TerminalScreen } from "./terminal-screen.ts";

/** What commands find around them. */
export interface ShellOptions {
  /** Variables for commands, on top of the program's own without its secrets; an undefined one is taken away. */
  readonly env?: Environment | undefined;
  /** What commands run in. Without one they may do all that the program may. */
  readonly sandbox?: Sandbox | undefined;
  /** Takes secrets out of what a command prints. */
  readonly redaction?: (() => Redaction) | undefined;
}

export const SHELL_OPTIONS: OptionNames<ShellOptions> = { env: true, sandbox: true, redaction: true };

const DEFAULT_TIMEOUT = 120_000;
const LONGEST_TIMEOUT = 3_600_000;
/** Characters. The system takes no argument of more than 128 KiB; what is longer belongs into a file. */
const LONGEST_COMMAND = 30_000;

/** Together less than the engine keeps of a result. The end is worth more: that is where errors stand. */
const KEPT = { head: 20_000, tail: 40_000 };

/** There is no terminal and nobody to answer. What is listed in `env` comes after these. */
export const WITHOUT_TERMINAL = { TERM: "dumb", PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0" };

const input = z.object({
  command: z
    .string()
    .min(1)
    .max(LONGEST_COMMAND)
    .describe("The command, as for bash -c, in the folder of the workspace."),
  timeout: z
    .int()
    .min(1)
    .max(LONGEST_TIMEOUT)
    .optional()
    .describe(`Milliseconds until the command is ended. Default ${DEFAULT_TIMEOUT}; none with background.`),
  background: z
    .boolean()
    .optional()
    .describe(
      "For a server or a watcher: answers its first output and its name, such as p1, and goes on. See processes.",
    ),
});

/** `shell {command, timeout?}`: runs a command, and ends all that it started. One that is to stay is among `background`. */
export function shellTool(
  workspace: Workspace,
  options: ShellOptions = {},
  background = new BackgroundCommands(),
): Tool {
  refuseUnknown("shellTool", options, SHELL_OPTIONS);
  const { env = {}, sandbox, redaction } = options;
  const { running } = background;
  return defineTool({
    name: "shell",
    description:
      "Runs a command in bash and answers its stdout and stderr together, and its exit code when that is not 0. " +
      "It has no input and no terminal. Processes in the background end with it. Of a long output the middle is left out." +
      (sandbox === undefined ? "" : confines(sandbox)),
    input,
    brief: "Runs a command in bash. timeout: milliseconds.",
    effects: "external",
    about: ({ command }) => ({ command }),
    async execute({ command, timeout: given, background: stays = false }, context) {
      await orNotExecuted(checkRoot(workspace));
      return whileSeen(workspace, context, async () => {
        if (stays) {
          const surroundings = { ...surroundingsIn(workspace, { env, sandbox }), timeout: given };
          const starting = background.start({ ...surroundings, command, redaction: redaction?.() }, context);
          const started = await orNotExecuted(starting);
          return "end" in started ? told(started.output, started.end, given) : toldToStay(started);
        }
        const timeout = given ?? DEFAULT_TIMEOUT;
        using progress = new ProgressPace((text) => context.progress(text));
        const { signal, hurry } = context;
        const onOutput = (text: string) => progress.push(text);
        const { end, output } = await orNotExecuted(
          runInWorkspace(workspace, command, {
            ...{ env, sandbox, redaction, timeout, signal, hurry, onOutput, running },
          }),
        );
        return told(output, end, timeout);
      });
    },
  });
}

/** Says of a command that could not be started that it did not run. */
async function orNotExecuted<Done>(running: Promise<Done>): Promise<Done> {
  try {
    return await running;
  } catch (error) {
    if (!(error instanceof WorkspaceError || error instanceof SandboxError)) throw error;
    throw new NotExecutedError(error.message, { cause: error });
  }
}

/** How a command runs in a workspace. */
export interface RunOptions extends ShellOptions {
  /** Milliseconds after which it is ended, with all that it started. */
  readonly timeout: number;
  /** Ends it, and all that it started. */
  readonly signal: AbortSignal;
  /** Ends it without asking it to end. */
  readonly hurry?: AbortSignal | undefined;
  /** Gets the output as it comes, without secrets. */
  readonly onOutput?: (text: string) => void;
  /** Ends it with the program, among others. */
  readonly running?: RunningCommands;
}

const RUN_OPTIONS: OptionNames<RunOptions> = {
  ...SHELL_OPTIONS,
  timeout: true,
  signal: true,
  hurry: true,
  onOutput: true,
  running: true,
};

/**
 * Runs a command as the tool `shell` does: in its sandbox, without the secrets of the environment, and with all that it
 * started ended before this resolves. Of a long output the middle is left out. Rejects when the shell cannot be started.
 */
export async function runInWorkspace(
  workspace: Workspace,
  command: string,
  options: RunOptions,
): Promise<{ readonly end: CommandEnd; readonly output: string }> {
  refuseUnknown("runInWorkspace", options, RUN_OPTIONS);
  const { env, sandbox, redaction, onOutput = () => {}, running = new RunningCommands(), ...bounds } = options;
  const output = new ShownOutput(redaction?.());
  const watched = redaction?.();
  const end = await runCommand(command, running, {
    ...surroundingsIn(workspace, { env, sandbox }),
    timeout: bounds.timeout,
    signal: bounds.signal,
    ...(bounds.hurry && { hurry: bounds.hurry }),
    onOutput(text, written) {
      output.push(written);
      onOutput(watched ? watched.push(text) : text);
    },
  });
  if (watched) onOutput(watched.end());
  return { end, output: output.end() };
}

/** The output of a command as the model receives it: as a terminal shows it (F82), without secrets, bounded. */
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

/** What a command finds around it. */
function surroundingsIn({ root }: Workspace, { env = {}, sandbox }: Pick<ShellOptions, "env" | "sandbox">) {
  const places = [root, ...(sandbox === undefined ? [] : [sandbox.temporary])];
  return {
    directory: root,
    environment: childEnvironment(steadyEnvironment(process.env, places), {
      ...WITHOUT_TERMINAL,
      ...withoutEditors(process.env),
      ...GIT_SETTINGS,
      ...env,
    }),
    ...(sandbox !== undefined && { sandbox }),
  };
}

function confines({ domains }: Sandbox): string {
  const network =
    domains.length === 0 ? "there is no network" : `only these domains can be reached: ${domains.join(", ")}`;
  return ` In its sandbox it writes in the workspace and in $TMPDIR only, and ${network}. Empty entries there, as .mcp.json, may only hold a place.`;
}

/** What a model is told of a command: its output, and how it ended unless that was well. */
export function told(output: string, end: CommandEnd, timeout: number | undefined): string {
  return join(output, outcome(end, timeout));
}

function toldToStay({ output, name, waiting }: Extract<StartedCommand, { readonly name: string }>): string {
  return join(output, `[Running in the background as ${name}${waiting}]`);
}

function outcome(end: CommandEnd, timeout: number | undefined): string {
  switch (end.type) {
    case "exited":
      return end.code === 0 ? "" : `exit code ${end.code}`;
    case "timed-out":
      return `[timed out after ${timeout} ms; the command and what it had started were ended]`;
    case "cancelled":
      return "[cancelled; the command and what it had started were ended]";
  }
}

function join(output: string, outcome: string): string {
  if (output === "") return outcome === "" ? "[no output]" : outcome;
  if (outcome === "") return output;
  return output.endsWith("\n") ? output + outcome : `${output}\n${outcome}`;
}
