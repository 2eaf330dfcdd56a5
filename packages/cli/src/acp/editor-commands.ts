import type { Client, CommandValues } from "@banyan/client";
import type { ActionUser, CommandInput } from "@banyan/client/actions";
import { isUserMessage } from "@banyan/core/conversation";
import { approvalIn, offeredModes } from "@banyan/protocol";
import type { EditorCommandContext, EditorCommandOutcome, EditorCommands } from "@banyan/server/acp";
import { TalkSession } from "../chat/session/talk-session.ts";
import { serverContextOverview, serverModelSelection } from "../chat/talk/models-here.ts";
import { lastExchange } from "../chat/views/exchange.ts";
import type { AfterCommand, ConversationContext } from "../commands/command.ts";
import { runCommandLine } from "../commands/index.ts";
import { offeredCommands } from "../commands/offered-commands.ts";
import { promptCommands, promptsAt } from "../commands/prompt-commands.ts";
import { sharesAt } from "../commands/share.ts";
import { styleFor } from "../show/style.ts";

const COLUMNS = 100;
const style = styleFor(process.stdout, "never");

/** Returns the commands for an editor: those of the conversation, and prompts of files and MCP servers. */
export function editorCommands(client: Client): EditorCommands {
  const prompts = promptsAt(client);
  return {
    async list() {
      return [...offeredCommands(userOf(client)), ...(await promptCommands({ prompts }))].map(
        ({ name, help, takes }) => ({
          name,
          description: help,
          ...(takes === undefined ? {} : { hint: takes }),
        }),
      );
    },
    async run(line, there) {
      return editorOutcome(await runCommandLine(line, editorCommandContext(there, prompts)));
    },
  };
}

function userOf({ welcome }: Client): ActionUser {
  return { client: "editor", rights: welcome.rights, without: welcome.without };
}

/** Converts the outcome of a command. Returns undefined for text and prompts, which the protocol's server sends itself. */
function editorOutcome(next: AfterCommand): EditorCommandOutcome | undefined {
  if (next.type !== "turn") return { type: "done" };
  const { directive, at, model, agent, asIs, goal } = next;
  if (directive.type === "stop") return { type: "done" };
  if (directive.type === "prompt") return undefined;
  const { type } = directive;
  const parts = "parts" in directive && directive.parts ? { parts: directive.parts } : {};
  return { type, ...parts, at, model, agent, asIs, goal };
}

function editorCommandContext(
  there: EditorCommandContext,
  prompts: ConversationContext["prompts"],
): ConversationContext {
  const { client, watched, leaf, run, write, goTo } = there;
  const session = new TalkSession(client, watched);
  const { state } = session;
  const { agent, settings } = client.welcome;
  const model = state.model ?? settings.model;
  const say = (sentence: string) => write(sentence);
  return {
    agent,
    state,
    run,
    leaf,
    write,
    prompts,
    user: userOf(client),
    async ask({ command, input, isHere }) {
      if (!isHere) return client.ask(command, input as CommandValues<typeof command>);
      return session.perform(command as "message.star", input as CommandInput<"message.star">);
    },
    models: serverModelSelection(client, model, async () => session),
    sentHere: () => serverContextOverview(client, { conversation: session.id, leaf, model }),
    exported: (format) => session.exported(format, leaf),
    // An editor knows no server address. The server has printed its address at the start.
    shares: sharesAt(client, "", async () => session),
    directory: state.labels.cwd ?? process.cwd(),
    turns: {
      mode: "chat",
      useMode: () => say("In an editor, the agent works in chat mode. For a task, use banyan run."),
      approval: approvalIn(settings, session.id),
      offeredModes: offeredModes(settings),
      useApproval: async () => say("Choose the approval mode in the editor's list of modes."),
    },
    screen: {
      style,
      columns: COLUMNS,
      copy: async () => "nothing",
      async pick({ title, items }) {
        write(title, ...items.map(({ label, help = "" }) => `${label}  ${help}`.trimEnd()));
        return undefined;
      },
    },
    async goTo(id) {
      const message = state.messages.get(id);
      if (!message) return;
      const isOwn = isUserMessage(message);
      const end = isOwn ? message.parentId : id;
      goTo(end);
      write(...lastExchange(state, end, agent, { columns: COLUMNS, style }));
      say(
        isOwn ? "Rephrase your message: the new text starts a new branch." : "Your next message continues from here.",
      );
    },
    goOn: (target) => goTo(target === "latest" ? state.leaf : "below" in target ? target.below : target.end),
    async undo({ call }) {
      if (leaf === null) return { changes: [], problems: [] };
      const taken = await session.undo(call, leaf, false);
      if (taken.message !== undefined) goTo(taken.message);
      return taken;
    },
  };
}
