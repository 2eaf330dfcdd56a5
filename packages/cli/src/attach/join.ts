import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { type Client, ClientError, conversationPages } from "@banyan/client";
import { connect } from "@banyan/client/node";
import { emptyConversation, reduce } from "@banyan/core";
import { idInAddress } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import { readConfiguration, redactor } from "@banyan/host";
import { fromJson } from "@banyan/host/exchange";
import { optionWords, ownCommand } from "@banyan/host/own-command";
import { approvalIn } from "@banyan/protocol";
import manifest from "../../package.json" with { type: "json" };
import type { TerminalStart } from "../chat/talk/at-terminal.ts";
import { loadCommandCompletion, messageNames } from "../chat/talk/converse.ts";
import { Talk, type TalkOptions } from "../chat/talk/talk.ts";
import { approvalSentence } from "../chat/views/approval-mode.ts";
import { offeredCommands } from "../commands/offered-commands.ts";
import { type Choosable, chooseConversation, FOUND } from "../conversations/choose.ts";
import { wrapSentence } from "../show/fit-text.ts";
import { plainLine } from "../show/plain-text.ts";
import type { LiveSettings } from "../terminal/contract/live-terminal.ts";
import type { Terminal } from "../terminal/contract/terminal.ts";
import type { AttachArguments } from "./arguments.ts";
import { findServer } from "./which-server.ts";

/** Connects to a server, and lets the user talk with its agent until they leave. */
export async function joinServer(
  args: AttachArguments,
  { terminal, unsent, signal, met }: TerminalStart,
): Promise<void> {
  let talk: Talk | undefined;
  const directory = realpathSync(".");
  const door = findServer(args.address, directory);
  const server = await connect(
    { ...door, client: `banyan ${manifest.version}` },
    { changed: (state) => talk?.connection(state) },
    signal,
  );
  try {
    const { workspace, settings, rights, without, notices = [] } = server.welcome;
    // Do not trust a server's claim to be local.
    const isHere = door.workspace === workspace;
    const context = {
      redact: redactor({ env: process.env }),
      directory: isHere ? workspace : directory,
      isElsewhere: !isHere,
    };
    const { prompt, statusCommand, ...look } = ownLook();
    talk = new Talk({ client: server, address: door.address, terminal, unsent, context, prompt, statusCommand });
    const { style, live } = terminal;
    const mayAct = rights.includes("act");
    const commands = offeredCommands({ client: "attach", rights, without });
    const files = isHere && mayAct ? { workspace } : {};
    const names = () => messageNames(talk?.session?.state, server.welcome.agent);
    const problems = live?.configure({ commands, names, ...files, ...look }) ?? [];
    loadCommandCompletion(terminal, server, commands).catch((error: unknown) => talk?.tell(error));
    const say = (sentence: string) => terminal.write(`${wrapSentence(sentence, terminal.columns)}\n`);
    const where = workspace === "" ? door.address : `${door.address} in ${visibleLine(workspace)}`;
    say(`${style.bold("banyan")} at ${where}`);
    const stays = "The agent continues when you leave. /help lists the commands.";
    say(style.dim(`Model: ${visibleLine(settings.model)}. ${stays}`));
    const approval = approvalIn(settings, undefined);
    if (approval !== "ask") say(style.warning(approvalSentence(approval)));
    for (const problem of [...notices, ...problems]) say(style.warning(plainLine(problem)));
    if (!mayAct) say(style.warning("With this token you can only watch."));
    const conversation = await wanted(args, server, terminal, signal);
    signal.throwIfAborted();
    met(talk);
    if (conversation === undefined) talk.beginAt(door.address);
    else await talk.enter(conversation);
    await talk.run();
    terminal.freshLine();
    // Draw pending output first, or it would overwrite the last lines.
    await live?.settled();
    terminal.close();
    const there = args.address === undefined ? [] : [door.address];
    if (talk.session) {
      const words = ["attach", ...there, ...optionWords("--resume", talk.session.id)];
      terminal.write(style.dim(`attach: ${ownCommand(words)}\n`));
    }
  } finally {
    server.close();
  }
}

function ownLook(): Pick<LiveSettings, "keys" | "notify" | "theme" | "vim"> &
  Pick<TalkOptions, "prompt" | "statusCommand"> {
  const { settings } = readConfiguration({ env: process.env, home: homedir() });
  const { keys, theme, vim, notify, prompt, statusLine } = settings;
  return {
    prompt,
    statusCommand: statusLine?.command,
    ...(keys && { keys }),
    ...(theme && { theme }),
    ...(vim !== undefined && { vim }),
    ...(notify && { notify }),
  };
}

async function wanted(
  { resume, piece, new: isNew }: AttachArguments,
  server: Client,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (isNew) return undefined;
  const choose = async (filter = "") => {
    const chosen = await chooseConversation({ from: remoteConversations(server), terminal, filter, signal });
    if (chosen === undefined) terminal.write("You chose no conversation. Starting a new conversation.\n");
    return chosen;
  };
  if (resume === true) return choose();
  // Look up an invalid id in an address as typed, so that the error names it.
  const named = piece === undefined ? resume : (idInAddress(piece) ?? piece);
  try {
    const { workspace } = server.welcome;
    // The conversations of an agent without a workspace have no folder.
    const which = named !== undefined ? { named } : workspace === "" ? {} : { cwd: workspace };
    return (await server.ask("conversation.open", which)).conversation;
  } catch (error) {
    const code = error instanceof ClientError ? error.code : undefined;
    if (named !== undefined && code === "ambiguous") return choose(named);
    // The workspace has no conversation yet. The first message begins one.
    if (named === undefined && code === "not-found") return undefined;
    throw error;
  }
}

/** The conversations of a server. Each method rejects with `ClientError`. */
function remoteConversations(server: Client): Choosable {
  const { agent, workspace } = server.welcome;
  return {
    agent,
    workspace,
    list: async () => (await Array.fromAsync(conversationPages(server))).flat(),
    async search(query) {
      const { hits } = await server.ask("conversation.search", { query, limit: FOUND });
      return hits.map(({ conversation }) => conversation);
    },
    // Read an export: subscribing would open the conversation on the server.
    async read(conversation) {
      const { text } = await server.ask("conversation.export", { conversation, format: "json" });
      const state = emptyConversation(conversation);
      for (const event of fromJson(text).events) reduce(state, event);
      return state;
    },
  };
}
