import { DirectiveError, readUserContent, type UserContent } from "../conversation/checked/user-content.ts";
import { isPersons, type Message, type UserPart } from "../conversation/message.ts";
import type { ConversationState, WaitingInput } from "../conversation/state.ts";
import { standing } from "../conversation/tree/path.ts";
import { fileProblem } from "../model/rules/pictures.ts";
import type { TurnStart } from "../turn/turn.ts";

/** What a turn handler returns: how the conversation goes on. */
export type Directive =
  | { readonly type: "say"; readonly parts: readonly UserPart[] }
  | { readonly type: "retry"; readonly parts?: readonly UserPart[] }
  | { readonly type: "resume" }
  | { readonly type: "stop" };

/**
 * Adds a user message and runs a turn. Bytes (`Buffer`, `Uint8Array`) are encoded, and a plain message of another library
 * (`{ role: "user", content }`) is taken where it maps without loss. Throws `DirectiveError` for an empty message, and for
 * any other shape, with the field.
 * @example agent.chat(say([{ type: "text", text: "What is this?" }, { type: "file", mediaType: "image/png", url: "https://example.org/a.png" }]));
 */
export function say(content: UserContent): Directive {
  return { type: "say", parts: userParts(content) };
}

/**
 * Asks again, beside what is there: without content a sibling of the last response, with it a sibling of the last user
 * message. Nothing is overwritten.
 * @example agent.chat(retry("Shorter, please."), { session });
 */
export function retry(content?: UserContent): Directive {
  return content === undefined ? { type: "retry" } : { type: "retry", parts: userParts(content) };
}

/**
 * Goes on from where the conversation stands, without a new message but with what waits to be delivered: after a
 * response that broke off or was cut, or from calls and user messages that nobody responded to.
 * @example agent.chat(resume(), { session });
 */
export function resume(): Directive {
  return { type: "resume" };
}

/** Ends the chat. */
export function stop(): Directive {
  return { type: "stop" };
}

/**
 * Returns the directive with checked parts. Throws `DirectiveError` for a value that a program without types may pass, and
 * for a picture that the provider of the model never takes (F47).
 */
export function checkedDirective(directive: Directive, model: object = {}): Directive {
  if (!["say", "retry", "resume", "stop"].includes(directive?.type))
    throw new DirectiveError(
      "unknown",
      "A chat begins with a directive: agent.chat(say(...)), retry(...), resume() or stop().",
    );
  const isSaid = directive.type === "say" || (directive.type === "retry" && directive.parts !== undefined);
  if (!isSaid) return directive;
  const parts = userParts(directive.parts ?? []);
  for (const part of parts) {
    const problem = part.type === "file" ? fileProblem(model, part) : undefined;
    if (problem === undefined) continue;
    const name = (part.type === "file" && part.name) || "A picture";
    const advice = "Change the picture, or choose another model.";
    throw new DirectiveError("unusable-file", `${name} cannot be sent to the model: ${problem}. ${advice}`);
  }
  return { ...directive, parts };
}

function userParts(content: UserContent): readonly UserPart[] {
  const parts = readUserContent(content);
  if (!parts) throw new DirectiveError("empty", "A message needs some text or a file; this one is empty.");
  return parts;
}

/**
 * The message to go on from, below `leaf` or the one that is named: nobody goes on below one that a person removed
 * meanwhile, unless it is named. Throws `DirectiveError` when that is not there.
 */
export function whereTo(state: ConversationState, named: string | undefined, leaf = state.leaf): string | null {
  if (named === undefined) return standing(state, leaf);
  if (state.messages.has(named)) return named;
  throw new DirectiveError("unknown-message", `There is no message ${named} in this conversation.`);
}

/**
 * Where a chat goes on that named no place: where it ended, or behind what was said there since, by whoever did not name a
 * place either. It makes no branch that nobody asked for.
 */
export function whereItGrew(state: ConversationState, leaf: string | null | undefined): string | null | undefined {
  if (leaf === undefined || leaf === state.leaf) return leaf;
  for (let id = state.leaf; id !== null; id = state.messages.get(id)?.parentId ?? null)
    if (id === leaf) return state.leaf;
  return leaf;
}

/**
 * Where on a path a directive starts its turn; `left` is what waits for no run. Throws `DirectiveError` when the path
 * has nothing to retry or resume.
 */
export function startOf(
  directive: Exclude<Directive, { type: "stop" }>,
  path: readonly Message[],
  left: readonly WaitingInput[],
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
      if (isComplete(path.at(-1))) {
        throw new DirectiveError(
          "nothing-to-resume",
          "There is nothing to resume: the last answer is complete. Say something.",
        );
      }
      return { type: "here", leaf };
    case "retry": {
      const last = path.findLast(isPersons);
      if (!last) throw new DirectiveError("nothing-to-retry", "There is nothing to retry: there are no messages yet.");
      if (!directive.parts && last.unreadable !== undefined) throw nothingToAnswer("nothing-to-retry");
      return directive.parts
        ? { type: "message", parentId: last.parentId, parts: directive.parts }
        : { type: "here", leaf: last.id, again: true };
    }
  }
}

/** A request without the message would ask the model nothing. */
function nothingToAnswer(code: DirectiveError["code"]): DirectiveError {
  return new DirectiveError(code, "The last message cannot be read, so no model can answer it: say something.");
}

function isComplete(message: Message | undefined): boolean {
  return message?.role === "assistant" && message.finish === "stop" && message.calls.length === 0;
}
