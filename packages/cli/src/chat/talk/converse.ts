import type { Client } from "@banyan/client";
import { messageNumbers } from "@banyan/client/actions";
import type { ConversationState } from "@banyan/core";
import { counted } from "@banyan/core/shown";
import { type Equipment, type Host, loadWire, openHost } from "@banyan/host";
import { optionWords, ownCommand } from "@banyan/host/own-command";
import { AT_OWN_DESK, offeredCommands } from "../../commands/offered-commands.ts";
import { promptCommands, promptsAt } from "../../commands/prompt-commands.ts";
import { chooseConversation, conversationsHere } from "../../conversations/choose.ts";
import { openNamedSession } from "../../conversations/named-session.ts";
import type { ExitCode } from "../../program/exit.ts";
import { hostOptions, outputOption } from "../../program/host-options.ts";
import { reportedProblem } from "../../program/problem.ts";
import type { Arguments } from "../../program/prompt-arguments.ts";
import { excerptLine, wrapSentence } from "../../show/fit-text.ts";
import { gist, speakerOf } from "../../show/message-label.ts";
import { plainLine } from "../../show/plain-text.ts";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import type { PromptSuggestion } from "../../terminal/full/prompt/completion.ts";
import type { OfferedCommand } from "../../terminal/full/prompt/completions.ts";
import type { TalkSession } from "../session/talk-session.ts";
import type { UnsentTexts } from "../user/unsent-texts.ts";
import { offerMemory, welcome, writeWelcome } from "../views/welcome.ts";
import { OwnDesk } from "./own-desk.ts";
import { Talk } from "./talk.ts";

export interface ConverseOptions {
  readonly args: Arguments;
  readonly terminal: Terminal;
  readonly unsent: UnsentTexts;
  /** True if Banyan may use the project's settings, servers and instructions. */
  readonly trusted: boolean;
  readonly notices: readonly string[];
  readonly signal: AbortSignal;
  onTalk(talk: Talk): void;
}

/**
 * Opens the host and the conversation of the command line, and talks until the user leaves or the task is done.
 * Resolves with the exit code. Rejects with errors that `reportedProblem` describes.
 */
export async function converseAtTerminal(options: ConverseOptions): Promise<ExitCode> {
  const { args, trusted, signal } = options;
  const notices = [...options.notices];
  let talk: Talk | undefined;
  const onTalk = (begun: Talk) => {
    talk = begun;
    options.onTalk(begun);
  };
  const host = await openHost({
    ...hostOptions(args, true, signal, trusted),
    ...outputOption(args),
    notice: (sentence) => (talk ? talk.note(sentence) : notices.push(sentence)),
    readyLater: true,
  });
  // Slow parts open while the user types. The next turn reports a failure.
  host
    .ready()
    .then(loadWire)
    .catch(() => {});
  try {
    return await talkAt(host, { ...options, notices, onTalk });
  } finally {
    await host.close();
  }
}

async function talkAt(
  host: Host,
  { args, terminal, unsent, notices, signal, onTalk }: ConverseOptions & { readonly notices: string[] },
): Promise<ExitCode> {
  notices.push(...host.notices);
  const left: string[] = [];
  let talk: Talk | undefined;
  const own = new OwnDesk(host, (error) => talk?.tell(error));
  try {
    const { session, at } = await openNamedSession(args, host, {
      notice: (sentence) => notices.push(sentence),
      open: (id) => own.open(id),
      choose: (among) => chooseConversation({ from: conversationsHere(host), terminal, among, signal }),
    });
    const client = await own.client({ changed: (state) => talk?.connection(state) });
    const context = { redact: host.redact, directory: host.workspace };
    const { prompt, statusLine } = host.configuration.settings;
    talk = new Talk({
      client,
      own,
      terminal,
      unsent,
      context,
      prompt,
      statusCommand: statusLine?.command,
      task: args.task,
    });
    onTalk(talk);
    notices.push(...configure(terminal, host));
    writeWelcome(terminal, host, notices);
    offerMemory(terminal, host);
    for (const completed of [
      loadCommandCompletion(terminal, client, offeredCommands(AT_OWN_DESK)),
      loadNameCompletion(terminal, host, talk),
    ])
      completed.catch((error: unknown) => {
        terminal.freshLine();
        const problem = `Tab cannot complete all commands and names: ${plainLine(reportedProblem(error).message)}`;
        terminal.write(`${wrapSentence(terminal.style.warning(problem), terminal.columns)}\n`);
      });
    if (session) await talk.enter(session.id, at);
    else talk.beginAt(host.workspace);
    if (!session && !args.prompt?.trim()) {
      const welcomed = welcome(terminal, host, () => unsent.hasBegun);
      // A plain terminal would print the welcome into the line that the user types.
      if (!terminal.live) await welcomed;
    }
    await talk.run(args.prompt?.trim() ? args.prompt : undefined);
    left.push(...(await worktreesLeft(talk.session, host)));
    return talk.exit;
  } finally {
    await own[Symbol.asyncDispose]();
    terminal.freshLine();
    const { style } = terminal;
    for (const line of left) terminal.write(`${wrapSentence(style.dim(line), terminal.columns)}\n`);
    if (talk?.kept !== undefined)
      terminal.write(style.dim(`resume: ${ownCommand(optionWords("--resume", talk.kept))}\n`));
  }
}

/** Such as `2 worktrees stay: banyan worktrees lists them.` Empty if the conversation has no worktree, or git fails. */
async function worktreesLeft(session: TalkSession | undefined, { worktrees }: Host): Promise<string[]> {
  const messages = session?.state.messages.values() ?? [].values();
  if (!messages.some((message) => message.role === "user" && message.worktree !== undefined)) return [];
  const { length } = await worktrees.list(session?.id).catch(() => []);
  if (length === 0) return [];
  return [
    `${counted(length, "worktree stays", "worktrees stay")}: ${ownCommand("worktrees")} lists ${length === 1 ? "it" : "them"}.`,
  ];
}

/** Passes settings and command names to the terminal. Returns faults in its key bindings. */
function configure({ live }: Terminal, host: Host): readonly string[] {
  const { keys, theme, vim, notify } = host.configuration.settings;
  const { workspace } = host;
  return (
    live?.configure({
      workspace,
      commands: offeredCommands(AT_OWN_DESK),
      ...(keys && { keys }),
      ...(theme && { theme }),
      ...(vim !== undefined && { vim }),
      ...(notify && { notify }),
    }) ?? []
  );
}

const STARTING = 30_000;

/** Adds commands from prompt files and MCP servers to the completion of slash commands, as soon as they are known. */
export async function loadCommandCompletion(
  { live }: Terminal,
  client: Client,
  known: readonly OfferedCommand[],
): Promise<void> {
  if (!live) return;
  const prompts = promptsAt(client);
  // Prompts from files are known at once, prompts of servers after their start.
  for (const patience of [0, STARTING]) {
    const brought = await promptCommands({ prompts }, patience).catch(() => []);
    live.configure({ commands: [...known, ...brought] });
  }
}

const HELP = 60;

/** `#` completes messages at once. `@` completes names of agents as soon as the agents are known (T14). */
async function loadNameCompletion({ live }: Terminal, host: Host, talk: Pick<Talk, "session">): Promise<void> {
  const complete = (agents: Equipment["agents"]) =>
    live?.configure({ names: () => [...agentNames(agents), ...messageNames(talk.session?.state, host.agent.name)] });
  complete([]);
  const { agents } = await host.ready().catch(() => ({ agents: [] }));
  complete(agents);
}

function agentNames(agents: Equipment["agents"]): PromptSuggestion[] {
  return agents.map(({ name, description }) => ({ text: `@${name}`, help: excerptLine(description, HELP) }));
}

/** Returns the messages of a conversation, newest first, as completions such as `#3`. */
export function messageNames(state: ConversationState | undefined, agent: string): PromptSuggestion[] {
  if (!state) return [];
  return [...messageNumbers(state)].reverse().flatMap(([id, number]) => {
    const message = state.messages.get(id);
    return message ? [{ text: `#${number}`, help: `${speakerOf(message, agent)}: ${gist(message, HELP)}` }] : [];
  });
}
