import { type Directive, newestLeaf, resume, retry, SessionError, say } from "@banyan/core";
import type { LiveConversation } from "../live/live-conversation.ts";
import { beginTurn } from "../live/turn.ts";
import type { Command } from "../protocol/index.ts";
import { agentFor, type Desk, type Handlers, type Written, written } from "./desk.ts";

/** What makes an agent work, and what stops it. */
export const turnHandlers: Handlers<
  "turn.say" | "turn.retry" | "turn.resume" | "run.interrupt" | "input.edit" | "input.withdraw"
> = {
  async "turn.say"(command, desk) {
    const live = await desk.conversations.open(command.conversation);
    return live.whileBeginning(async () => {
      const message = await written(desk, command.parts);
      const waits = await deliver(command, message, live, desk);
      return { message: command.id, waits, ...message.told };
    });
  },

  async "turn.retry"(command, desk) {
    const live = await desk.conversations.open(command.conversation);
    const { id, parts, at } = command;
    return live.whileBeginning(async () => {
      const message = await written(desk, parts ?? []);
      if (!isDone(live, id)) await begin(command, parts ? retry(message.parts) : retry(), at, live, desk);
      return { ...(parts ? { message: id } : {}), ...message.told };
    });
  },

  async "turn.resume"(command, desk) {
    const live = await desk.conversations.open(command.conversation);
    if (!isDone(live, command.id)) await live.whileBeginning(() => begin(command, resume(), command.at, live, desk));
    return {};
  },

  async "run.interrupt"({ conversation, run }, { conversations }) {
    return { interrupted: conversations.ifOpen(conversation)?.session.interrupt(run) ?? 0 };
  },

  async "input.edit"({ conversation, input, parts, delivery, before, run }, desk) {
    const { session } = await desk.conversations.open(conversation);
    const message = await written(desk, parts ?? []);
    await session.editInput(input, {
      ...(parts === undefined ? {} : { parts: message.parts }),
      ...(delivery === undefined ? {} : { delivery }),
      ...(before === undefined ? {} : { before }),
      ...(run === undefined ? {} : { run }),
    });
    return message.told;
  },

  async "input.withdraw"({ conversation, input }, { conversations }) {
    await (await conversations.open(conversation)).session.withdrawInput(input);
    return {};
  },
};

/** Says something to the run that it is for, or begins a turn with it; answers whether it waits. */
async function deliver(
  command: Command<"turn.say">,
  { parts }: Written,
  live: LiveConversation,
  desk: Desk,
): Promise<boolean> {
  const { session } = live;
  const { id, delivery = "steer" } = command;
  if (isDone(live, id)) return session.state.inbox.some((input) => input.id === id);
  const run = hearer(command, live);
  if (run !== undefined) {
    try {
      await session.say(parts, { run, delivery, id });
      return true;
    } catch (error) {
      // It ended just now: what was to be heard by it is said behind it.
      if (!(error instanceof SessionError && error.code === "no-run")) throw error;
    }
  }
  const { at } = command;
  const behind = command.run !== undefined && at !== undefined ? newestLeaf(session.state, at) : at;
  await begin(command, say(parts), behind, live, desk);
  return false;
}

/** The live run that hears what is said: the one named, else the one that stands where it is said. */
function hearer({ run, at }: Command<"turn.say">, { session }: LiveConversation): string | undefined {
  const { runs, leaf } = session.state;
  if (run !== undefined) return runs.has(run) ? run : undefined;
  return [...runs.values()].find((live) => live.leaf === (at ?? leaf))?.id;
}

async function begin(
  command: Command<"turn.say" | "turn.retry" | "turn.resume">,
  directive: Directive,
  at: string | undefined,
  live: LiveConversation,
  desk: Desk,
): Promise<void> {
  const agent = await agentFor(desk, live, command);
  await beginTurn(agent, directive, live.session, { at, id: command.id }, desk.defect);
}

/** Whether the log has what a command of this id did: it was sent before, perhaps to a server that is gone (B59). */
function isDone({ session }: LiveConversation, id: string): boolean {
  const { messages, inbox, runs } = session.state;
  if (messages.has(id) || runs.has(id) || inbox.some((input) => input.id === id)) return true;
  return messages.values().some((message) => message.role === "assistant" && message.run === id);
}
