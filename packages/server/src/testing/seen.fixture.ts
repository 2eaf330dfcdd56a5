import { type ConversationState, type Event, emptyConversation, reduce, type Store } from "@banyan/core";
import type { TestClient } from "./test-client.fixture.ts";

/** The comparable parts of a conversation: equal states give equal results, however they came about. */
export function seen(state: ConversationState) {
  const { id, title, model, labels, createdAt, leaf, lastRunEnd, allowed, usage, cost } = state;
  return {
    about: { id, title, model, labels, createdAt, leaf, lastRunEnd, allowed: [...allowed], usage, cost },
    messages: [...state.messages.values()].map((message) => JSON.parse(JSON.stringify(message))),
    children: [...state.children].map(([parent, children]) => [parent, [...children]]),
    runs: [...state.runs.values()],
    inbox: state.inbox.map((input) => ({ ...input })),
    questions: [...state.questions.values()],
  };
}

/** A conversation from its stored log. The conversation must not be open. */
export async function stored(store: Store, id: string): Promise<ConversationState> {
  const log = await store.open(id);
  try {
    const state = emptyConversation(id);
    for await (const events of log.read()) for (const event of events as readonly Event[]) reduce(state, event);
    return state;
  } finally {
    await log.close();
  }
}

/** Reads all messages of which a client has only the outline. */
export async function readAll(client: TestClient, conversation: string): Promise<ConversationState> {
  const mirror = client.mirrors.get(conversation);
  if (!mirror) throw new Error("The client does not watch this conversation.");
  for (let unread = mirror.unread(mirror.state.messages.keys()); unread.length > 0; ) {
    await client.ask("message.read", { conversation, messages: unread.slice(0, 500) });
    unread = mirror.unread(mirror.state.messages.keys());
  }
  return mirror.state;
}
