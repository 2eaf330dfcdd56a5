import type { Client } from "@banyan/client";
import { isPersons } from "@banyan/core/conversation";
import type { CommandOutcome, CommandPlace, EditorCommands } from "@banyan/server/acp";
import { modelsThere, sentThere } from "../chat/talk/models-here.ts";
import { TalkSession } from "../chat/talk/talk-session.ts";
import { lastExchange } from "../chat/views/exchange.ts";
import type { Command, ConversationContext } from "../commands/command.ts";
import { commandsFor, conversationCommands, isWords, runCommandOf } from "../commands/index.ts";
import { promptCommands, promptsAt } from "../commands/prompt-commands.ts";
import { sharesAt } from "../commands/share.ts";
import { oneLine } from "../show/plain-text.ts";
import { styleFor } from "../show/style.ts";

/** What an editor has in its own ways: to leave, keys, settings, the clipboard, a list of what runs unasked, and how turns are taken. */
const NOT_THERE: ReadonlySet<string> = new Set(["exit", "keys", "approval", "mode", "help", "copy", "config"]);

const COLUMNS = 100;
const style = styleFor(process.stdout, "never");

/** The commands of the terminal that are about the conversation itself, for an editor. */
const commands = conversationCommands.filter(({ name }) => !NOT_THERE.has(name));

/** The commands that an editor has at a desk: those about the conversation, and what files and MCP servers bring there. */
export function editorCommands(client: Client): EditorCommands {
  const prompts = promptsAt(client);
  return {
    async list() {
      return [...commands, ...(await promptCommands({ prompts }))].map(({ name, help, takes }) => ({
        ...{ name, description: help },
        ...(takes === undefined ? {} : { hint: takes }),
      }));
    },
    async run(line, there) {
      const context = contextOf(there, prompts);
      const all = await commandsFor(commands, line, context);
      if (isWords(line, all)) return undefined;
      return outcomeOf(await runCommandOf(all, line, context));
    },
  };
}

function outcomeOf(next: Awaited<ReturnType<Command["run"]>>): CommandOutcome | undefined {
  if (next.type !== "turn") return { type: "done" };
  const { directive, at, model, agent, asIs } = next;
  if (directive.type === "stop") return { type: "done" };
  if (directive.type === "prompt") return undefined;
  const { type } = directive;
  const parts = "parts" in directive && directive.parts ? { parts: directive.parts } : {};
  return { type, ...parts, at, model, agent, asIs };
}

/** What commands see of a session in an editor, and can do with it. */
function contextOf(there: CommandPlace, prompts: ConversationContext["prompts"]): ConversationContext {
  const { client, watched, leaf, run, write, goTo } = there;
  const session = new TalkSession(client, watched);
  const { state } = session;
  const { agent, settings } = client.welcome;
  const model = state.model ?? settings.model;
  const say = (sentence: string) => write(sentence);
  return {
    ...{ agent, style, columns: COLUMNS, state, session, run, leaf, write, prompts },
    models: modelsThere(client, model, async () => session),
    sentHere: () => sentThere(client, { conversation: session.id, leaf, model }),
    exported: (format) => session.exported(format, leaf),
    // An editor knows of no address; where there is one, the server has told it to whoever runs it.
    shares: sharesAt(client, "", async () => session),
    directory: state.labels.cwd ?? process.cwd(),
    copy: async () => "nothing",
    mode: "chat",
    useMode: () => say("An editor talks with the agent; a task is for banyan run."),
    approval: settings.approval,
    useApproval: async () => say("Choose in the editor's list what runs without asking."),
    // The desk takes secrets out of what is said to the model; a title is for people.
    redact: (text) => text,
    async pick({ title, items }) {
      write(title, ...items.map(({ label, help = "" }) => `${label}  ${help}`.trimEnd()));
      return undefined;
    },
    async goTo(id) {
      const message = state.messages.get(id);
      if (!message) return;
      const isOwn = isPersons(message);
      const end = isOwn ? message.parentId : id;
      goTo(end);
      write(...lastExchange(state, end, agent, { columns: COLUMNS, style }));
      say(
        isOwn ? "Say it in other words: your next message stands beside it." : "Your next message goes on from here.",
      );
    },
    standAt: (message) => goTo(message),
    beside: async () => session,
    goBack: () => goTo(state.leaf),
    async undo({ call }) {
      if (leaf === null) return { changes: [], problems: [] };
      const taken = await session.undo(call, leaf, false);
      if (taken.message !== undefined) goTo(taken.message);
      return taken;
    },
    // The door tells that it is under way: in the editor's own way, where it has one.
    async compact(at, keep) {
      const { summary, compaction, problem } = await session.compact(at, { keep, model: undefined });
      if (summary !== undefined) goTo(summary);
      return problem === undefined ? { compaction } : { problem: oneLine(problem) };
    },
  };
}
