import {
  type ConversationState,
  emptyConversation,
  type FeedItem,
  type LiveRun,
  reduce,
} from "@banyan/core/conversation";
import { inEnglish } from "@banyan/core/shown";
import type { ActionContext, ClientKind } from "./action.ts";
import { type ActionUser, readAction, readLine } from "./index.ts";

/** The clients in which each action is tested. */
export const CLIENTS: readonly ClientKind[] = ["terminal", "attach", "editor", "page"];

/**
 * A conversation with objects of all actions: two branches, a user's command, removed messages, a held input, a rule, a
 * background process, and a recalled entry. Messages are numbered in the order of this function.
 */
function conversation(): ConversationState {
  const state = emptyConversation("conversation");
  let seq = 0;
  const add = (event: object) =>
    reduce(state, { ...event, seq: ++seq, epoch: 1, at: seq } as unknown as FeedItem & { seq: number });
  const say = (message: string, parentId: string | null, ...texts: string[]) =>
    add({
      type: "message.added",
      message,
      parentId,
      role: "user",
      author: "user",
      parts: texts.map((text) => ({ type: "text", text })),
    });
  const answer = (message: string, parentId: string, text: string) => {
    add({ type: "message.started", message, parentId, run: "run", model: "demo/offline" });
    const usage = { input: 1, output: 1, cached: 0, reasoning: 0 };
    add({ type: "message.completed", message, parts: [{ type: "text", text }], finish: "stop", usage });
  };
  say("asked", null, "a colour?");
  add({ type: "memory.recalled", message: "asked", items: [{ text: "Red is liked.", source: "a file" }] });
  answer("answered", "asked", "Red.");
  say("ran", "answered", "!ls", '<output name="ls">a.txt</output>');
  say("other", null, "a shape?");
  answer("round", "other", "Round.");
  say("older", null, "an older question");
  say("newer", null, "a newer question");
  add({ type: "message.removed", message: "newer" });
  add({ type: "message.removed", message: "older" });
  add({ type: "input.queued", input: "held", parts: [{ type: "text", text: "later" }], delivery: "queue", run: null });
  add({
    type: "input.queued",
    input: "next",
    parts: [{ type: "text", text: "after that" }],
    delivery: "queue",
    run: null,
  });
  const process = { id: "p1", title: "serve", message: "answered", call: "call", startedAt: 0 };
  Object.assign(state, { allowed: ["shell(ls)"], processes: new Map([["p1", process]]) });
  return state;
}

/** The same conversation with a working sub-agent. */
export function withSubAgent(): ConversationState {
  const state = conversation();
  const call = { id: "launch", tool: "launch_agent", inputText: "{}", status: "executing" };
  const launcher = state.messages.get("answered");
  Object.assign(launcher ?? {}, { calls: [call] });
  const event = {
    type: "message.added",
    message: "task",
    parentId: null,
    role: "user",
    author: "agent",
    call: "launch",
    parts: [{ type: "text", text: "look" }],
  };
  reduce(state, { ...event, seq: 100, epoch: 1, at: 100 } as unknown as FeedItem & { seq: number });
  const run: LiveRun = { id: "agent-run", agent: "", mode: "chat", startedAt: 0, leaf: "task", call: "launch" };
  Object.assign(state, {
    runs: new Map([["agent-run", run]]),
    calls: new Map([["launch", "answered"]]),
  });
  return state;
}

/** A user at a client, on the branch that ends with the user's own command. */
export function placeAt(
  client: ClientKind,
  changed: Partial<ActionContext & ActionUser> = {},
): ActionContext & ActionUser {
  return {
    client,
    rights: ["show", "watch", "act"],
    state: conversation(),
    leaf: "ran",
    run: undefined,
    agent: "banyan",
    mode: "chat",
    say: inEnglish,
    ...changed,
  };
}

/** Returns the step of a line, or the sentence of its refusal. */
export function asked(line: string, context: ActionContext & ActionUser): unknown {
  try {
    const read = readLine(line, { ...context, prompts: [] });
    if (read.type !== "action") return read;
    const {
      result: _,
      isHere: __,
      ...step
    } = readAction(read.action, read.argument, context) as unknown as Readonly<Record<string, unknown>>;
    return step;
  } catch (error) {
    return (error as Error).message;
  }
}
