import { malformedMessage, type PlainMessage, readUserContent, shownValue } from "../checked/user-content.ts";
import { didYouMean } from "../option-names.ts";
import type { FilePart } from "../part.ts";
import { isJsonRecord, type JsonRecord, shownKind } from "../shape-problem.ts";
import {
  type HistoryCall,
  type HistoryMessage,
  type HistoryPart,
  type HistoryResult,
  parsedInput,
} from "./history-message.ts";
import { atPlace, jsonAt, readResult, readUiResult, withoutHints } from "./read-result.ts";

/**
 * Reads messages of the AI SDK (`UIMessage`, `ModelMessage`), of OpenAI (chat completions, items of responses) and of
 * Anthropic. Throws `DirectiveError` with the place of the first part that a session cannot keep.
 */
export function readHistory(messages: readonly object[]): readonly HistoryMessage[] {
  if (!Array.isArray(messages))
    throw malformedMessage(`A history must be an array of messages, not ${shownKind(messages)}`);
  const reader = new HistoryReader();
  // `forEach()` would skip holes.
  for (let index = 0; index < messages.length; index++) reader.read(messages[index], `messages[${index}]`);
  return reader.messages.filter(({ parts }) => parts.length > 0);
}

type OpenCall = { -readonly [Name in keyof HistoryCall]: HistoryCall[Name] };

const ROLES = ["user", "assistant", "tool"];

class HistoryReader {
  readonly messages: HistoryMessage[] = [];
  /** The newest call with each id. Some providers number the calls of each response from 0, so ids repeat. */
  readonly #calls = new Map<string, OpenCall>();
  /** Parts of the response that the next part joins: the items of a response arrive as separate messages. */
  #response: HistoryPart[] | undefined;

  read(message: unknown, at: string): void {
    if (!isJsonRecord(message))
      throw malformedMessage(`${at} must be a message with a role, not ${shownKind(message)}`);
    if (message.role === undefined) return this.#item(message, at);
    switch (message.role) {
      case "user":
        return this.#user(message, at);
      case "assistant":
        return this.#assistant(message, at);
      case "tool":
        return this.#tool(message, at);
      case "system":
      case "developer":
        throw malformedMessage(
          `${at} is a ${message.role} message; leave it out, and pass its text as instructions of the agent`,
        );
    }
    const near = typeof message.role === "string" ? didYouMean(message.role, ROLES) : undefined;
    throw malformedMessage(
      `${at}.role is ${shownValue(message.role)}; ${near ?? 'it must be "user", "assistant" or "tool"'}`,
    );
  }

  /** Reads an item of the responses format. */
  #item(given: JsonRecord, at: string): void {
    switch (given.type) {
      case "reasoning":
        for (const [index, part] of arrayAt(given.summary ?? [], `${at}.summary`).entries())
          this.#reasoning(partText(part, `${at}.summary[${index}]`));
        return;
      case "function_call":
        return this.#callWithText(given.call_id, given.name, given.arguments, at);
      case "function_call_output":
        return this.#result(given.call_id, at, readResult(given.output, `${at}.output`));
    }
    throw malformedMessage(
      given.type === undefined
        ? `${at} has no role; a message needs role and content`
        : `${at}.type is ${shownValue(given.type)}, which a session cannot keep; leave the item out`,
    );
  }

  #user(message: JsonRecord, at: string): void {
    const name = message.content === undefined && message.parts !== undefined ? "parts" : "content";
    const given = message[name];
    if (!Array.isArray(given)) return this.#said({ role: "user", [name]: given }, at);
    const said: unknown[] = [];
    for (const [index, part] of given.entries()) {
      const place = `${at}.${name}[${index}]`;
      if (!isJsonRecord(part) || part.type !== "tool_result") {
        said.push(isJsonRecord(part) ? withoutHints(part) : part);
        continue;
      }
      const failed = part.is_error === true;
      this.#result(part.tool_use_id, place, readResult(part.content ?? "", `${place}.content`, failed));
    }
    if (said.length > 0 || given.length === 0) this.#said({ role: "user", [name]: said }, at);
  }

  #said(message: JsonRecord, at: string): void {
    this.#response = undefined;
    const parts = atPlace(at, () => readUserContent(message as unknown as PlainMessage));
    if (!parts) throw malformedMessage(`${at} has neither text nor a file; leave it out`);
    this.messages.push({ role: "user", parts });
  }

  #assistant(message: JsonRecord, at: string): void {
    const { content, parts, tool_calls: calls, refusal, reasoning_content: reasoning } = message;
    if (isJsonRecord(message.function_call))
      throw malformedMessage(`${at}.function_call is an older form of a call; pass it in tool_calls, with an id`);
    if (typeof reasoning === "string") this.#reasoning(reasoning);
    if (typeof content === "string") this.#text(content);
    else if (Array.isArray(parts) && content === undefined) this.#parts(parts, `${at}.parts`);
    else if (Array.isArray(content)) this.#parts(content, `${at}.content`);
    else if (content !== null && (content !== undefined || calls === undefined))
      throw malformedMessage(`${at}.content must be a string or an array of parts, not ${shownKind(content)}`);
    if (typeof refusal === "string") this.#text(refusal);
    for (const [index, call] of arrayAt(calls ?? [], `${at}.tool_calls`).entries()) {
      const place = `${at}.tool_calls[${index}]`;
      if (!isJsonRecord(call) || !isJsonRecord(call.function))
        throw malformedMessage(`${place} must be a call of a function, with id and function`);
      this.#callWithText(call.id, call.function.name, call.function.arguments, place);
    }
  }

  #parts(parts: readonly unknown[], at: string): void {
    for (const [index, part] of parts.entries()) this.#part(part, `${at}[${index}]`);
  }

  #part(part: unknown, at: string): void {
    if (!isJsonRecord(part)) throw malformedMessage(`${at} must be a part with a type, not ${shownKind(part)}`);
    const { type } = part;
    // A tool may have the name "call" or "result".
    if (typeof type === "string" && type.startsWith("tool-") && part.state !== undefined)
      return this.#toolOfUi(part, type, at);
    switch (type) {
      case "text":
      case "output_text":
        return this.#text(partText(part, at));
      case "refusal":
        return this.#text(stringAt(part.refusal, `${at}.refusal`));
      case "reasoning":
        return this.#reasoning(partText(part, at));
      case "thinking":
        return this.#reasoning(stringAt(part.thinking, `${at}.thinking`));
      // Only the account that got the reasoning can use it, and an approval says nothing that its result does not.
      case "redacted_thinking":
      case "tool-approval-request":
        return;
      case "step-start":
        this.#response = undefined;
        return;
      case "steering-message":
        return this.#said({ role: "user", parts: part.parts }, at);
      case "file":
      case "reasoning-file":
        return this.#add(...atPlace(at, () => filesOf({ ...part, type: "file" })));
      case "source-url":
        return this.#add({ type: "source", url: stringAt(part.url, `${at}.url`), ...titleOf(part) });
      case "tool-call":
        return this.#call(part.toolCallId, part.toolName, part.input, at, part.providerExecuted);
      case "tool-result":
        return this.#result(part.toolCallId, at, readResult(part.output, `${at}.output`));
      case "tool_use":
        return this.#call(part.id, part.name, part.input, at);
    }
    if (typeof type === "string" && (type === "dynamic-tool" || type.startsWith("tool-")))
      return this.#toolOfUi(part, type, at);
    // Data parts are for a page; no model has seen them.
    if (typeof type === "string" && (type.startsWith("data-") || type === "source-document")) return;
    throw malformedMessage(`${at}.type is ${shownValue(type)}, which a session cannot keep; leave the part out`);
  }

  #toolOfUi(part: JsonRecord, type: string, at: string): void {
    const { toolCallId, input, rawInput, state, output, errorText, approval } = part;
    const tool = type === "dynamic-tool" ? part.toolName : type.slice("tool-".length);
    this.#call(toolCallId, tool, input ?? rawInput ?? {}, at, part.providerExecuted);
    const response = this.#response;
    switch (state) {
      case "output-available":
        this.#result(toolCallId, at, readUiResult(output ?? null, `${at}.output`));
        break;
      case "output-error":
        this.#result(toolCallId, at, readResult(stringAt(errorText, `${at}.errorText`), at, true));
        break;
      case "output-denied": {
        const reason = isJsonRecord(approval) && typeof approval.reason === "string" ? { reason: approval.reason } : {};
        this.#result(toolCallId, at, readResult({ type: "execution-denied", ...reason }, at));
      }
    }
    // The calls of one step are one response, and each part has its own result.
    this.#response = response;
  }

  #tool(message: JsonRecord, at: string): void {
    const { content, tool_call_id: id } = message;
    if (id !== undefined) return this.#result(id, at, readResult(content, `${at}.content`));
    for (const [index, part] of arrayAt(content, `${at}.content`).entries()) {
      const place = `${at}.content[${index}]`;
      if (!isJsonRecord(part)) throw malformedMessage(`${place} must be a result, not ${shownKind(part)}`);
      if (part.type === "tool-approval-response") continue;
      if (part.type !== "tool-result")
        throw malformedMessage(
          `${place}.type is ${shownValue(part.type)}; a tool message has parts of type "tool-result"`,
        );
      this.#result(part.toolCallId, place, readResult(part.output, `${place}.output`));
    }
  }

  #text(text: string): void {
    if (text !== "") this.#add({ type: "text", text });
  }

  #reasoning(text: string): void {
    if (text.trim() !== "") this.#add({ type: "reasoning", text });
  }

  #callWithText(id: unknown, tool: unknown, given: unknown, at: string): void {
    const inputText = stringAt(given, `${at}.arguments`) || "{}";
    this.#addCall({ id, tool, inputText }, at);
  }

  #call(id: unknown, tool: unknown, input: unknown, at: string, ranAtProvider?: unknown): void {
    if (ranAtProvider === true)
      throw malformedMessage(`${at} is a call that the provider ran; leave it and its result out`);
    this.#addCall({ id, tool, inputText: jsonAt(input, `${at}.input`) }, at);
  }

  #addCall({ id, tool, inputText }: { id: unknown; tool: unknown; inputText: string }, at: string): void {
    const called = { id: nameAt(id, at, "id"), tool: nameAt(tool, at, "tool name") };
    const call: OpenCall = { type: "call", ...called, inputText, ...parsedInput(inputText) };
    this.#calls.set(call.id, call);
    this.#add(call);
  }

  #result(id: unknown, at: string, result: HistoryResult): void {
    const call = this.#calls.get(nameAt(id, at, "call id"));
    if (!call)
      throw malformedMessage(`${at} is the result of the call ${shownValue(id)}, but no message before has this call`);
    if (call.result)
      throw malformedMessage(`${at} is a second result of the call ${shownValue(id)}; leave one of the two out`);
    call.result = result;
    this.#response = undefined;
  }

  #add(...parts: readonly HistoryPart[]): void {
    if (!this.#response) {
      this.#response = [];
      this.messages.push({ role: "assistant", parts: this.#response });
    }
    this.#response.push(...parts);
  }
}

function filesOf(part: JsonRecord): FilePart[] {
  const read = readUserContent([withoutHints(part) as never]) ?? [];
  return read.filter((each) => each.type === "file");
}

function titleOf({ title }: JsonRecord): { readonly title?: string } {
  return typeof title === "string" ? { title } : {};
}

function arrayAt(value: unknown, at: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw malformedMessage(`${at} must be an array, not ${shownKind(value)}`);
}

function partText(part: unknown, at: string): string {
  return stringAt(isJsonRecord(part) ? part.text : undefined, `${at}.text`);
}

function stringAt(value: unknown, at: string): string {
  if (typeof value === "string") return value;
  throw malformedMessage(`${at} must be a string, not ${shownKind(value)}`);
}

function nameAt(value: unknown, at: string, what: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw malformedMessage(`${at} has no ${what}; a call and its result need the same id, and a call needs a tool`);
}
