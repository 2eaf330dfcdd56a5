import { DirectiveError, readUserContent, type UserContent } from "../conversation/checked/user-content.ts";
import { isUserMessage, type Message } from "../conversation/message.ts";
import type { UserPart } from "../conversation/part.ts";
import type { ConversationState, WaitingInput } from "../conversation/state.ts";
import { standingLeaf } from "../conversation/tree/path.ts";
import { isAnswer } from "../goal/asked-goal.ts";
import { untakenFileProblem } from "../model/rules/pictures.ts";
import type { BeginOptions } from "../session/runs.ts";
import type { TurnStart } from "../turn/turn.ts";
import type { ChatOptions } from "./chat-options.ts";

/** The next action of a conversation: a new message, a retry, a resume or a stop. See {@link say}. */
export type Directive =
  | { readonly type: "say"; readonly parts: readonly UserPart[] }
  | { readonly type: "retry"; readonly parts?: readonly UserPart[] }
  | { readonly type: "resume" }
  | { readonly type: "stop" };

/**
 * Adds a user message and runs a turn. Bytes (`Buffer`, `Uint8Array`) are encoded in base 64. A message of another
 * library (`{ role: "user", content }`) is accepted if no part of it is lost. Throws `DirectiveError` for an empty
 * message or a wrong field, with the name of the field.
 * @example agent.chat(say([{ type: "text", text: "What is this?" }, { type: "file", mediaType: "image/png", url: "https://example.org/a.png" }]));
 */
export function say(content: UserContent): Directive {
  return { type: "say", parts: userParts(content) };
}

/**
 * Asks again on a new branch. Without content, the model answers again, and the new response is a sibling of the last
 * one. With content, a new user message is a sibling of the last user message. Nothing is overwritten.
 * @example agent.chat(retry("Shorter, please."), { session });
 */
export function retry(content?: UserContent): Directive {
  return content === undefined ? { type: "retry" } : { type: "retry", parts: userParts(content) };
}

/**
 * Continues without a new message. Delivers waiting messages, continues a response that broke off or was cut, and
 * answers call results and user messages that have no response.
 * @example agent.chat(resume(), { session });
 */
export function resume(): Directive {
  return { type: "resume" };
}

/**
 * Ends the chat if a turn handler returns this directive.
 * @example
 * const onTurn: TurnHandler = (_, agent, turn) => agent.chat(turn.text === "Goodbye." ? stop() : say("Go on."));
 */
export function stop(): Directive {
  return { type: "stop" };
}

/** Throws `DirectiveError` for an invalid directive, and for an image that the provider never accepts (F47). */
export function checkDirective(directive: Directive, model: object = {}): Directive {
  if (!["say", "retry", "resume", "stop"].includes(directive?.type))
    throw new DirectiveError(
      "unknown",
      "A chat begins with a directive: agent.chat(say(...)), retry(...), resume() or stop().",
    );
  const isSaid = directive.type === "say" || (directive.type === "retry" && directive.parts !== undefined);
  if (!isSaid) return directive;
  const parts = userParts(directive.parts ?? []);
  for (const part of parts) {
    const problem = part.type === "file" ? untakenFileProblem(model, part) : undefined;
    if (problem === undefined) continue;
    const name = (part.type === "file" && part.name) || "A picture";
    const advice = "Send another picture, or choose another model.";
    throw new DirectiveError("unusable-file", `${name} cannot be sent to the model: ${problem}. ${advice}`);
  }
  return { ...directive, parts };
}

function userParts(content: UserContent): readonly UserPart[] {
  const parts = readUserContent(content);
  if (!parts) throw new DirectiveError("empty", "A message needs some text or a file; this message is empty.");
  return parts;
}

export function continuationLeaf(
  state: ConversationState,
  named: string | undefined,
  leaf = state.leaf,
): string | null {
  if (named === undefined) return standingLeaf(state, leaf);
  if (state.messages.has(named)) return named;
  throw new DirectiveError("unknown-message", `There is no message ${named} in this conversation.`);
}

/** Returns the leaf for a chat without `at`: a newer leaf below `leaf` if messages were added there, or else `leaf`. */
export function grownLeaf(state: ConversationState, leaf: string | null | undefined): string | null | undefined {
  if (leaf === undefined || leaf === state.leaf) return leaf;
  for (let id = state.leaf; id !== null; id = state.messages.get(id)?.parentId ?? null)
    if (id === leaf) return state.leaf;
  return leaf;
}

/**
 * Returns where and how the turn of a directive starts. Throws `DirectiveError` if nothing can be retried or resumed.
 */
export function turnStart(
  directive: Exclude<Directive, { type: "stop" }>,
  path: readonly Message[],
  left: readonly WaitingInput[],
  broken?: ConversationState["broken"],
): TurnStart {
  const leaf = path.at(-1)?.id ?? null;
  switch (directive.type) {
    case "say":
      return { type: "message", parentId: leaf, parts: directive.parts };
    case "resume":
      if (left.length > 0) return { type: "inputs", parentId: leaf, inputs: left };
      if (leaf === null)
        throw new DirectiveError("nothing-to-resume", "There is nothing to resume: the conversation is empty.");
      if (path.at(-1)?.role === "user" && path.at(-1)?.unreadable !== undefined)
        throw nothingToAnswer("nothing-to-resume");
      // A goal is checked once more behind a complete answer.
      if (isAnswer(path.at(-1)) && !broken?.get(leaf)?.goal) {
        throw new DirectiveError(
          "nothing-to-resume",
          "There is nothing to resume: the last answer is complete. Send a new message.",
        );
      }
      return { type: "here", leaf };
    case "retry": {
      const last = path.findLast(isUserMessage);
      if (!last) throw new DirectiveError("nothing-to-retry", "There is nothing to retry: there are no messages yet.");
      if (!directive.parts && last.unreadable !== undefined) throw nothingToAnswer("nothing-to-retry");
      return directive.parts
        ? { type: "message", parentId: last.parentId, parts: directive.parts }
        : { type: "here", leaf: last.id, again: true };
    }
  }
}

/** A request without the unreadable message would ask the model nothing. */
function nothingToAnswer(code: DirectiveError["code"]): DirectiveError {
  return new DirectiveError(code, "The last message cannot be read, so no model can answer it. Send a new message.");
}

/** Returns how the run of a directive begins. The id is that of the added message, or else that of the run. */
export function beginOptions(
  signal: AbortSignal | undefined,
  directive: Directive,
  { at, id, wait: waits = true }: ChatOptions,
): BeginOptions {
  const says = "parts" in directive && directive.parts !== undefined;
  const isResumed = directive.type === "resume";
  return { signal, id: says ? undefined : id, says, named: at !== undefined, continues: isResumed, waits };
}
