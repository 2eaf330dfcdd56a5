import { type Call, type Message, outputForModel, textOf } from "../conversation/message.ts";
import type { Json } from "../conversation/part.ts";
import { isJsonRecord } from "../conversation/shape-problem.ts";
import { counted, formatCount } from "../conversation/shown/amounts.ts";
import { nearest } from "../conversation/shown/nearest.ts";
import { cutTo } from "../conversation/shown/visible-text.ts";
import { afterSummary, isSummary } from "../conversation/tree/path.ts";

/**
 * Prefix of the addresses of earlier messages (F98). The prefix alone is the address of the list of messages.
 * @example readEarlier(pathTo(session.state, session.state.leaf), `${EARLIER}#1`);
 */
export const EARLIER = "earlier:";

/** The text of a message or of a call's result, with its `earlier:` address. See {@link earlierTextsToSearch}. */
export interface AddressedText {
  /** The address: `earlier:#12` for message 12 of the branch, `earlier:CALL` for the result of a call. */
  readonly address: string;
  readonly text: string;
}

/** Returns the note that follows a summary for the model (F96). `readers`: the tools that read the covered messages. */
export function noteAfterSummary(readers: readonly string[]): string {
  const continues = "The work continues from here. Finished steps are not repeated.";
  if (readers.length === 0) return continues;
  return `${continues} To list the messages that the summary covers, call ${readers.join(" or ")} with ${EARLIER}.`;
}

const LISTED = 120;

/**
 * Returns the text at an `earlier:` address. `earlier:` lists the messages that the model no longer sees, `earlier:#12`
 * is message 12, and `earlier:CALL` is the result of a call. Numbers count from the root, so they stay valid as long as
 * the branch exists. Removed messages and all messages below them are left out. Throws `RangeError` for an unknown
 * address.
 * @example console.log(readEarlier(pathTo(session.state, session.state.leaf), "earlier:"));
 */
export function readEarlier(path: readonly Message[], address: string): string {
  const branch = numbered(path);
  if (address === EARLIER) return listEarlier(branch);
  const { call, ...at } = found(branch, address);
  return call ? resultAt(at, call) : messageAt(at);
}

/**
 * Returns the texts at an `earlier:` address, for a search. Throws `RangeError` for an unknown address.
 * @example
 * const texts = earlierTextsToSearch(pathTo(session.state, session.state.leaf), "earlier:");
 * const found = texts.filter(({ text }) => text.includes("oak")).map(({ address }) => address);
 */
export function earlierTextsToSearch(path: readonly Message[], address: string): AddressedText[] {
  if (address !== EARLIER) return [{ address, text: readEarlier(path, address) }];
  return numbered(path).flatMap((at) => [
    ...(isUnseen(at) ? [{ address: earlierAddress(at), text: messageAt(at) }] : []),
    ...unseenResults(at).map((call) => ({ address: EARLIER + call.id, text: resultAt(at, call) })),
  ]);
}

interface NumberedMessage {
  readonly message: Message;
  /** The number of the message on its path. The root has the number 1. */
  readonly number: number;
  /** The message as the model sees it. Absent: a summary replaces the message. */
  readonly shown: Message | undefined;
}

/** True for a message that the model does not see unchanged. Lines of the program for users do not count. */
function isUnseen({ message, shown }: NumberedMessage): boolean {
  if (message.role === "summary" && !isSummary(message)) return false;
  return shown === undefined || (message.role === "user" && shown !== message);
}

/** Calls whose results the model does not see in full. */
function unseenResults({ message, shown }: NumberedMessage): readonly Call[] {
  const outputs = shown && new Map(callsOf(shown).map((call) => [call.id, outputForModel(call)]));
  return callsOf(message).filter((call) => outputs?.get(call.id) !== outputForModel(call));
}

/** Returns the messages down to the first removed message: a removal also removes all messages below. */
function numbered(path: readonly Message[]): readonly NumberedMessage[] {
  const gone = path.findIndex(({ removed }) => removed);
  const branch = gone < 0 ? path : path.slice(0, gone);
  const shown = new Map(afterSummary(branch).map((message) => [message.id, message]));
  return branch.map((message, index) => ({ message, number: index + 1, shown: shown.get(message.id) }));
}

function listEarlier(branch: readonly NumberedMessage[]): string {
  const lines = branch.flatMap((at) => [
    ...(isUnseen(at) ? [`${earlierAddress(at)} ${speakerName(at.message)}: ${earlierOpening(at.message)}`] : []),
    ...unseenResults(at).map(
      (call) =>
        `${EARLIER}${call.id} result of ${callName(call)}, ${formatCount(earlierResult(call).length)} characters`,
    ),
  ]);
  if (lines.length === 0) return "[You are shown all messages of this branch, with their results.]";
  const messages = branch.filter(isUnseen).length;
  const results = lines.length - messages;
  const count = `${counted(messages, "message")} and ${counted(results, "result")}`;
  return [`[You see none or only a part of ${count}. Each line begins with an address.]`, ...lines].join("\n");
}

function found(branch: readonly NumberedMessage[], address: string): NumberedMessage & { readonly call?: Call } {
  const name = address.slice(EARLIER.length);
  const [, number] = /^#(\d+)$/.exec(name) ?? [];
  const at = branch[Number(number) - 1];
  if (at) return at;
  if (number !== undefined) {
    throw new RangeError(
      `This branch has only ${branch.length} messages, so there is no message ${number}. Use ${EARLIER} for a list.`,
    );
  }
  const calls = branch.flatMap((one) => callsOf(one.message).map((call) => ({ ...one, call })));
  const asked = calls.findLast(({ call }) => call.id === name);
  if (asked) return asked;
  const [near] = nearest(
    name,
    calls.map(({ call }) => call.id),
  );
  const advice = near === undefined ? "" : `Did you mean ${EARLIER}${near}? `;
  throw new RangeError(
    `Nothing on this branch has the address ${address}. ${advice}Use ${EARLIER} for a list, ${EARLIER}#12 for message 12, or ${EARLIER} with the id of a call for its result.`,
  );
}

function messageAt({ message, number, shown }: NumberedMessage): string {
  const head = `[Message ${number} of this conversation${summaryMark(shown)}, by ${speakerName(message)}.]`;
  if (message.unreadable !== undefined) return `${head}\n[It cannot be read.]`;
  const files = message.parts.flatMap((part) => (part.type === "file" ? fileLine(part) : []));
  const calls = callsOf(message).map(
    (call) => `[Call of ${callName(call)}; result: ${EARLIER}${call.id}]\n${readableInput(call)}`,
  );
  return [head, textOf(message), ...files, ...calls].filter((text) => text !== "").join("\n");
}

function resultAt({ number, shown }: NumberedMessage, call: Call): string {
  return `[Result of ${callName(call)} in message ${number}${summaryMark(shown)}.]\n${earlierResult(call)}`;
}

function summaryMark(shown: Message | undefined): string {
  return shown ? "" : ", from before the summary";
}

function earlierAddress({ number }: NumberedMessage): string {
  return `${EARLIER}#${number}`;
}

function callsOf(message: Message): readonly Call[] {
  return message.role === "assistant" ? message.calls : [];
}

function speakerName(message: Message): string {
  if (message.role === "assistant") return "you";
  if (message.role === "summary") return isSummary(message) ? "an earlier summary" : "the program";
  return { user: "the user", tool: "a tool", system: "the program" }[message.author];
}

function earlierOpening(message: Message): string {
  return oneLineExcerpt(textOf(message)) || "(without text)";
}

function callName({ tool, about = {}, status }: Call): string {
  const what = about.title ?? about.command ?? about.paths?.[0]?.path ?? about.url;
  return `${tool}${what === undefined ? "" : ` ${oneLineExcerpt(what)}`} (${status})`;
}

/** Multi-line texts are unquoted: as JSON they would be one line, which a reader cuts. */
function readableInput({ executedInput, input = executedInput, inputText }: Call): string {
  const ran: Json | undefined = executedInput ?? input;
  if (!isJsonRecord(ran)) return inputText;
  return Object.entries(ran)
    .map(([name, value]) =>
      typeof value === "string" && value.includes("\n") ? `${name}:\n${value}` : `${name}: ${JSON.stringify(value)}`,
    )
    .join("\n");
}

function earlierResult(call: Call): string {
  const { output, files = [] } = call;
  return [output === undefined ? "[There is none.]" : outputForModel(call), ...files.map(fileLine)].join("\n");
}

function fileLine({ name, mediaType }: { readonly name?: string | undefined; readonly mediaType: string }): string {
  return `[A file: ${name === undefined ? "" : `${name}, `}${mediaType}]`;
}

function oneLineExcerpt(text: string): string {
  return cutTo(text.replaceAll(/\s+/g, " ").trim(), LISTED);
}
