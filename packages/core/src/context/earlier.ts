import { type Call, type Json, type Message, textOf } from "../conversation/message.ts";
import { formatCount } from "../conversation/shown/amounts.ts";
import { nearest } from "../conversation/shown/nearest.ts";
import { cutTo } from "../conversation/shown/visible-text.ts";
import { afterSummary, isSummary } from "../conversation/tree/path.ts";

/** How addresses of earlier messages begin (F98). Alone it is the address of the list. */
export const EARLIER = "earlier:";

/** A message, or the result of a call, as a text with its address. */
export interface EarlierText {
  /** `earlier:#12` for the twelfth message from the root of the branch, `earlier:CALL` for the result of a call. */
  readonly address: string;
  readonly text: string;
}

/**
 * Returns what the model is told behind a summary (F96): that the work continues, and with which of its tools, by their names,
 * the model reads what the summary covers.
 */
export function noteBehind(readers: readonly string[]): string {
  const goesOn = "The work continues from here. Finished steps are not repeated.";
  if (readers.length === 0) return goesOn;
  return `${goesOn} To see what the summary covers, call ${readers.join(" or ")} with ${EARLIER}, which lists the messages.`;
}

/** Characters of a message in the list. */
const LISTED = 120;

/**
 * Returns what an address `earlier:` names on a path, as a text for the model: `earlier:` lists what the model is not shown
 * any more, `earlier:#12` is message 12, and `earlier:CALL` is the result of a call. Messages are counted from the root, so
 * that a number means the same message for as long as the branch exists. Nothing below a removed message is told. Throws a
 * `RangeError` for an address that names nothing.
 */
export function readEarlier(path: readonly Message[], address: string): string {
  const branch = numbered(path);
  if (address === EARLIER) return list(branch);
  const { call, ...at } = found(branch, address);
  return call ? resultAt(at, call) : messageAt(at);
}

/** Returns the texts in which a search at an address `earlier:` looks. Throws a `RangeError` as `readEarlier` does. */
export function searchedEarlier(path: readonly Message[], address: string): EarlierText[] {
  if (address !== EARLIER) return [{ address, text: readEarlier(path, address) }];
  return numbered(path)
    .filter(({ isHidden }) => isHidden)
    .flatMap((at) => [
      { address: addressOf(at), text: messageAt(at) },
      ...callsOf(at.message).map((call) => ({ address: EARLIER + call.id, text: resultAt(at, call) })),
    ]);
}

/** A message of a branch. */
interface NumberedMessage {
  readonly message: Message;
  /** From the root of the branch, which is 1. */
  readonly number: number;
  /** A summary stands for it, so that the model is not shown it any more. */
  readonly isHidden: boolean;
}

/** The messages down to the first one that a user removed: that removed all below it too. */
function numbered(path: readonly Message[]): readonly NumberedMessage[] {
  const gone = path.findIndex(({ removed }) => removed);
  const branch = gone < 0 ? path : path.slice(0, gone);
  const shown = new Set(afterSummary(branch));
  return branch.map((message, index) => ({ message, number: index + 1, isHidden: !shown.has(message) }));
}

function list(branch: readonly NumberedMessage[]): string {
  const hidden = branch.filter(({ isHidden }) => isHidden);
  if (hidden.length === 0) return "[No summary stands for a message of this branch: you are shown all of them.]";
  const lines = hidden.flatMap((at) => [
    `${addressOf(at)} ${writerOf(at.message)}: ${firstWords(at.message)}`,
    ...callsOf(at.message).map(
      (call) => `${EARLIER}${call.id} result of ${nameOf(call)}, ${formatCount(resultOf(call).length)} characters`,
    ),
  ]);
  return [`[Messages from before the summary: ${hidden.length}. Each line begins with an address.]`, ...lines].join(
    "\n",
  );
}

function found(branch: readonly NumberedMessage[], address: string): NumberedMessage & { readonly call?: Call } {
  const name = address.slice(EARLIER.length);
  const [, number] = /^#(\d+)$/.exec(name) ?? [];
  const at = branch[Number(number) - 1];
  if (at) return at;
  if (number !== undefined) {
    throw new RangeError(
      `There is no message ${number} on this branch, which has ${branch.length}. Use ${EARLIER} for a list.`,
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
    `${address} names nothing on this branch. ${advice}Use ${EARLIER} for a list, ${EARLIER}#12 for message 12, or ${EARLIER} with the id of a call for its result.`,
  );
}

function messageAt({ message, number, isHidden }: NumberedMessage): string {
  const head = `[Message ${number} of this conversation${markOf(isHidden)}, by ${writerOf(message)}.]`;
  if (message.unreadable !== undefined) return `${head}\n[It cannot be read.]`;
  const files = message.parts.flatMap((part) => (part.type === "file" ? fileLine(part) : []));
  const calls = callsOf(message).map(
    (call) => `[Call of ${nameOf(call)}; result: ${EARLIER}${call.id}]\n${inputOf(call)}`,
  );
  return [head, textOf(message), ...files, ...calls].filter((text) => text !== "").join("\n");
}

function resultAt({ number, isHidden }: NumberedMessage, call: Call): string {
  return `[Result of ${nameOf(call)} in message ${number}${markOf(isHidden)}.]\n${resultOf(call)}`;
}

function markOf(isHidden: boolean): string {
  return isHidden ? ", from before the summary" : "";
}

function addressOf({ number }: NumberedMessage): string {
  return `${EARLIER}#${number}`;
}

function callsOf(message: Message): readonly Call[] {
  return message.role === "assistant" ? message.calls : [];
}

function writerOf(message: Message): string {
  if (message.role === "assistant") return "you";
  if (message.role === "summary") return isSummary(message) ? "an earlier summary" : "the program";
  return { user: "the user", tool: "a tool", system: "the program" }[message.author];
}

function firstWords(message: Message): string {
  return onOneLine(textOf(message)) || "(without text)";
}

/** The tool, what the call is about, and how it ended. */
function nameOf({ tool, about = {}, status }: Call): string {
  const what = about.title ?? about.command ?? about.paths?.[0]?.path ?? about.url;
  return `${tool}${what === undefined ? "" : ` ${onOneLine(what)}`} (${status})`;
}

/** The arguments, a text of several lines as it is: written as JSON it would be one line, which a reader cuts. */
function inputOf({ executedInput, input = executedInput, inputText }: Call): string {
  const ran: Json | undefined = executedInput ?? input;
  if (typeof ran !== "object" || ran === null || Array.isArray(ran)) return inputText;
  return Object.entries(ran)
    .map(([name, value]) =>
      typeof value === "string" && value.includes("\n") ? `${name}:\n${value}` : `${name}: ${JSON.stringify(value)}`,
    )
    .join("\n");
}

function resultOf({ output, files = [] }: Call): string {
  return [output ?? "[There is none.]", ...files.map(fileLine)].join("\n");
}

function fileLine({ name, mediaType }: { readonly name?: string | undefined; readonly mediaType: string }): string {
  return `[A file: ${name === undefined ? "" : `${name}, `}${mediaType}]`;
}

function onOneLine(text: string): string {
  return cutTo(text.replaceAll(/\s+/g, " ").trim(), LISTED);
}
