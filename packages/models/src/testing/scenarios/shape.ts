import { type ConversationState, type Json, type Message, type RunEnd, textOf } from "@banyan/core";
import type { CallStatus, Finish } from "@banyan/core/conversation";

/** A conversation without parts that vary between runs or providers: ids, times, names of models. */
export interface Shape {
  /** In tree order: parents before their children. */
  readonly messages: readonly MessageShape[];
  /** The reason for the last run's end. */
  readonly ended: RunEnd | undefined;
}

export interface MessageShape {
  /** The index of the parent message, if it is not the previous message. */
  readonly below?: number | null;
  /** The role; with the author, if not the user. */
  readonly by: string;
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly CallShape[];
  readonly finish?: Finish;
  /** True if the message has an error; each provider words it differently. */
  readonly broke?: true;
  /** True if tokens were counted for the message. */
  readonly counted?: boolean;
}

export interface CallShape {
  readonly tool: string;
  /** The arguments; the model's text if they are not JSON. */
  readonly input: Json;
  readonly status: CallStatus;
  /** With `<what went wrong>` in place of the provider's words. */
  readonly output?: string;
}

export function shapeOf(state: ConversationState): Shape {
  const order: string[] = [];
  const open = [...(state.children.get(null) ?? [])].reverse();
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    order.push(id);
    open.push(...[...(state.children.get(id) ?? [])].reverse());
  }
  const messages = order.map((id, index): MessageShape => {
    const message = state.messages.get(id) as Message;
    const usual = index === 0 ? null : order[index - 1];
    if (message.parentId === usual) return shapeOfMessage(message);
    return { below: message.parentId === null ? null : order.indexOf(message.parentId), ...shapeOfMessage(message) };
  });
  return { messages, ended: state.lastRunEnd };
}

function shapeOfMessage(message: Message): MessageShape {
  const text = textOf(message);
  const said = text === "" ? {} : { text };
  if (message.role === "summary") return { by: "summary", ...said };
  if (message.role === "user") return { by: message.author === "user" ? "user" : `user (${message.author})`, ...said };
  const reasoning = message.parts.map((part) => (part.type === "reasoning" ? part.text : "")).join("");
  const calls = message.calls.map(({ tool, input, inputText, status, output }): CallShape => {
    const told = message.error === undefined ? output : output?.replace(message.error, "<what went wrong>");
    return { tool, input: input ?? inputText, status, ...(told === undefined ? {} : { output: told }) };
  });
  return {
    by: "assistant",
    ...(reasoning === "" ? {} : { reasoning }),
    ...said,
    ...(calls.length === 0 ? {} : { calls }),
    ...(message.finish === undefined ? {} : { finish: message.finish }),
    ...(message.error === undefined ? {} : { broke: true as const }),
    counted: (message.usage?.input ?? 0) > 0,
  };
}
