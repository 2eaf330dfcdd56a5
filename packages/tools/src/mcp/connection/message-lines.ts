import { isJsonRecord, parseJsonText } from "@banyan/core/shown";
import { type JSONRPCMessage, parseJSONRPCMessage, STDIO_DEFAULT_MAX_BUFFER_SIZE } from "@modelcontextprotocol/client";

/** Maximum number of positions of a line at which to look for a message among other text. */
const MOST = 100;

/** Maximum bytes of one response of an MCP server, over any transport. */
export const LARGEST_ANSWER = STDIO_DEFAULT_MAX_BUFFER_SIZE;
/** The error of a call whose response is larger than `LARGEST_ANSWER` (F108). */
export const TOO_LARGE = `its answer is larger than ${LARGEST_ANSWER / 1024 ** 2} MiB, the limit for an answer of an MCP server; ask for less`;

/** `KEPT`: bytes to keep of each end of a line that is too long. `ENDLESS`: bytes after which a line counts as endless. */
const KEPT = 4_096;
const ENDLESS = 20 * LARGEST_ANSWER;

/**
 * Reads the messages in the output of a program: one JSON document per line (F68). A line may end with CRLF or begin
 * with a byte-order mark. Log lines are skipped, and other text before or after a message on its line is ignored. A
 * response that is too large is replaced by an error with its id.
 */
export class MessageLines {
  #open: Buffer[] = [];
  #size = 0;
  /** The two ends of an unfinished line that is too long: one of them contains the id of the response. */
  #cut: { readonly head: Buffer; tail: Buffer } | undefined;
  readonly #waiting: string[] = [];

  append(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf("\n"); end !== -1; end = bytes.indexOf("\n", start)) {
      this.#add(bytes.subarray(start, end));
      this.#waiting.push(
        ...(this.#cut ? refusalFor(this.#cut) : messagesIn(Buffer.concat(this.#open).toString("utf8"))),
      );
      this.#open = [];
      this.#size = 0;
      this.#cut = undefined;
      start = end + 1;
    }
    if (start < bytes.length) this.#add(bytes.subarray(start));
    if (this.#size > ENDLESS) throw new Error(`The server wrote a line of more than ${ENDLESS} bytes.`);
  }

  #add(piece: Buffer): void {
    this.#size += piece.length;
    if (this.#cut) {
      this.#cut.tail = Buffer.concat([this.#cut.tail, piece]).subarray(-KEPT);
      return;
    }
    this.#open.push(piece);
    if (this.#size <= LARGEST_ANSWER) return;
    const line = Buffer.concat(this.#open);
    this.#cut = { head: Buffer.from(line.subarray(0, KEPT)), tail: Buffer.from(line.subarray(-KEPT)) };
    this.#open = [];
  }

  /**
   * Returns the next message; `null` if there is none yet. Throws if a line is JSON but no message; later lines stay
   * readable.
   */
  next(): JSONRPCMessage | null {
    const text = this.#waiting.shift();
    return text === undefined ? null : parseJSONRPCMessage(asReadableMessage(JSON.parse(text)));
  }
}

/** Replaces an invalid response by a valid one: otherwise its request would wait for ever. */
function asReadableMessage(message: unknown): unknown {
  if (!isJsonRecord(message) || !("id" in message) || "method" in message) return message;
  const { result, error } = message;
  if (
    error !== undefined &&
    !(isJsonRecord(error) && typeof error.message === "string" && Number.isInteger(error.code))
  )
    return { ...message, error: { code: -32603, message: typeof error === "string" ? error : JSON.stringify(error) } };
  if (!("result" in message)) return message;
  if (!isJsonRecord(result)) return { ...message, result: { content: result === null ? [] : [result] } };
  const { _meta, ...rest } = result;
  return isJsonRecord(_meta) ? message : { ...message, result: rest };
}

const ID = String.raw`"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.){1,200}")`;
const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
const FIRST = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?${ID}`);
const LAST = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`);

/** Returns the error that replaces a response with these two ends; an empty list if the message is not a response. */
function refusalFor({ head, tail }: { readonly head: Buffer; readonly tail: Buffer }): string[] {
  const [first, last] = [head.toString("latin1"), tail.toString("latin1")];
  const id = (FIRST.exec(first) ?? LAST.exec(last))?.[1];
  if (id === undefined || /^\s*\{[^{[]*"method"/.test(first)) return [];
  return [`{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":${JSON.stringify(TOO_LARGE)}}}`];
}

function messagesIn(line: string): string[] {
  const text = line.replace(/^\ufeff/, "").trim();
  if (isJsonText(text)) return /^[[{]/.test(text) ? [text] : [];
  const found: string[] = [];
  let start = text.indexOf("{");
  for (let looks = 0; start !== -1 && looks < MOST; looks++) {
    const end = objectEnd(text, start);
    const message = end === -1 ? "" : text.slice(start, end);
    const isMessage = message.includes('"jsonrpc"') && isJsonText(message);
    if (isMessage) found.push(message);
    start = text.indexOf("{", isMessage ? end : start + 1);
  }
  return found;
}

function objectEnd(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const unit = text[at];
    if (quoted) {
      if (unit === "\\") at++;
      else if (unit === '"') quoted = false;
    } else if (unit === '"') quoted = true;
    else if (unit === "{") depth++;
    else if (unit === "}" && --depth === 0) return at + 1;
  }
  return -1;
}

function isJsonText(text: string): boolean {
  return parseJsonText(text) !== undefined;
}
