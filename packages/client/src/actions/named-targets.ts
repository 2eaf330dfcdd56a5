import { type ConversationState, leaves, type Message, pathTo, textOf, typedText } from "@banyan/core/conversation";
import { cutTo, visibleLine, withoutMarks } from "@banyan/core/shown";
import { type ActionContext, ActionRefusal } from "./action.ts";

/** Returns the number of each message, in order of creation, from 1. */
export function messageNumbers(state: ConversationState): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  for (const id of state.messages.keys()) numbers.set(id, numbers.size + 1);
  return numbers;
}

/** Returns the message with a number (`#4`) or an id. */
export function messageNamed(state: ConversationState, name: string): string | undefined {
  if (state.messages.has(name)) return name;
  const [, digits] = /^#(\d+)$/.exec(name) ?? [];
  return digits === undefined ? undefined : [...state.messages.keys()][Number(digits) - 1];
}

/** True if a message or one of its ancestors was removed. */
export function isRemoved(state: ConversationState, id: string): boolean {
  return pathTo(state, id).some(({ removed }) => removed);
}

export function quoteForUser(text: string): string {
  return text.length > 60 ? `${visibleLine(cutTo(text, 60, ""))}…` : visibleLine(text);
}

/** The message that the beginning of an argument names, such as `#4`, and the text after it. */
export interface NamedMessage {
  readonly message: Message;
  readonly number: string;
  readonly rest: string;
}

/**
 * Finds the message that the beginning of an argument names. Throws `ActionRefusal` for a missing or removed message.
 */
export function readNamedMessage({ state, say }: ActionContext, argument: string): NamedMessage {
  const [, name = "", rest = ""] = /^(\S*)\s*(.*)$/s.exec(argument) ?? [];
  const id = messageNamed(state, name);
  const message = id === undefined ? undefined : state.messages.get(id);
  if (name === "") throw new ActionRefusal(say("Give the number of a message, such as #1. /tree shows the numbers."));
  if (!message)
    throw new ActionRefusal(say("There is no message {name}. /tree shows the numbers.", { name: quoteForUser(name) }));
  if (isRemoved(state, message.id))
    throw new ActionRefusal(say("{name} was removed. /restore {name} brings it back.", { name: quoteForUser(name) }));
  return { message, number: `#${messageNumbers(state).get(message.id)}`, rest };
}

/**
 * Finds the message that the beginning of an argument names. Without a number, returns the end of the user's branch.
 */
export function readMessageOrEnd(context: ActionContext, argument: string): NamedMessage {
  const { state, leaf, say } = context;
  const end = leaf === null ? undefined : state.messages.get(leaf);
  const [first = ""] = argument.split(/\s/, 1);
  if (first.startsWith("#") || messageNamed(state, first) !== undefined) return readNamedMessage(context, argument);
  if (!end) throw new ActionRefusal(say("There are no messages yet."));
  return { message: end, number: `#${messageNumbers(state).get(end.id)}`, rest: argument };
}

/** Formats a message on one line: `#3  you  Find the bug`. */
export function messageLine({ state, agent, say }: ActionContext, message: Message): string {
  const text = withoutMarks(visibleLine(cutTo(typedText(message), 200, "")));
  const speaker = message.role === "assistant" ? agent : message.role === "summary" ? say("Summary") : say("You");
  return `#${messageNumbers(state).get(message.id)}  ${speaker}  ${quoteForUser(text)}`;
}

export function countFrom(state: ConversationState, from: string): number {
  let count = 0;
  const open = [from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (state.messages.get(id)?.removed) continue;
    count++;
    for (const child of state.children.get(id) ?? []) open.push(child);
  }
  return count;
}

/** Returns the leaves of the branches that match a branch number, a message (`#4`), or a text. */
export function branchesNamed({ state }: Pick<ActionContext, "state">, argument: string): string[] {
  const all = leaves(state);
  const named = /^\d+$/.test(argument) ? all[Number(argument) - 1] : messageNamed(state, argument);
  if (named !== undefined) return isRemoved(state, named) ? [] : [named];
  if (/^#?\d+$/.test(argument)) return [];
  const wanted = argument.toLowerCase();
  return all.filter((leaf) => pathTo(state, leaf).some((message) => textOf(message).toLowerCase().includes(wanted)));
}

/** Finds the branch that an argument names. Throws `ActionRefusal` if no branch or several branches match. */
export function readBranch(context: ActionContext, argument: string): string {
  const [only, ...others] = branchesNamed(context, argument);
  if (only !== undefined && others.length === 0) return only;
  const named = { name: quoteForUser(argument) };
  throw new ActionRefusal(
    only === undefined
      ? context.say("There is no branch {name}. /branch lists the branches with their numbers.", named)
      : context.say("Several branches contain {name}. /branch lists the branches with their numbers.", named),
  );
}
