import type { ConversationState } from "@banyan/core";
import type { Equipment, Host } from "@banyan/host";
import { excerpt } from "../show/fit-text.ts";
import { gist, messageNumbers, speakerOf } from "../show/message-label.ts";
import type { Suggestion } from "../terminal/full/prompt/completion.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Talk } from "./talk.ts";

/** Characters that say what a name stands for. */
const HELP = 60;

/** Lets a terminal complete `#` to messages of the conversation, and `@` to named agents as soon as they are known (T14). */
export async function completeNames({ live }: Terminal, host: Host, talk: Pick<Talk, "session">): Promise<void> {
  const complete = (agents: Equipment["agents"]) =>
    live?.configure({ names: () => [...agentNames(agents), ...messageNames(talk.session?.state, host.agent.name)] });
  complete([]);
  // That they are not known, whoever begins a turn is told.
  const { agents } = await host.ready().catch(() => ({ agents: [] }));
  complete(agents);
}

function agentNames(agents: Equipment["agents"]): Suggestion[] {
  return agents.map(({ name, description }) => ({ text: `@${name}`, help: excerpt(description, HELP) }));
}

/** Messages of a conversation as `#3`, the newest first. */
export function messageNames(state: ConversationState | undefined, agent: string): Suggestion[] {
  if (!state) return [];
  return [...messageNumbers(state)].reverse().flatMap(([id, number]) => {
    const message = state.messages.get(id);
    return message ? [{ text: `#${number}`, help: `${speakerOf(message, agent)}: ${gist(message, HELP)}` }] : [];
  });
}
