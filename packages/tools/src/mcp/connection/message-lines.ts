import { type JSONRPCMessage, parseJSONRPCMessage, STDIO_DEFAULT_MAX_BUFFER_SIZE } from "@modelcontextprotocol/client";

/** Places in a line at which a message is looked for behind noise. */
const MOST = 100;

/** Bytes of one answer of a server, whatever carries it. */
export const LARGEST_ANSWER = STDIO_DEFAULT_MAX_BUFFER_SIZE;
/** The error of a call whose answer is larger (F108). */
export const TOO_LARGE = `its answer is larger than ${LARGEST_ANSWER / 1024 ** 2} MiB, the limit for an answer of an MCP server; ask for less`;

/** Bytes that are kept of each end of a line that is too long, and of such a line before its program counts as broken. */
const KEPT = 4_096;
const ENDLESS = 20 * LARGEST_ANSWER;

/**
 * The messages in the output of a program, one JSON document a line (F68). Lines may end with CRLF or begin with a byte order mark.
 * Log lines are passed over, and a message is found that stands behind or before noise on its line. An answer that is too large
 * becomes an error with its id.
 */
export class MessageLines {
  /** A line whose end has not come. */
  #open: Buffer[] = [];
  #size = 0;
  /** The ends of a line that is too long, when its end has not come: the id of an answer stands in one of them. */
  #cut: { readonly head: Buffer; tail: Buffer } | undefined;
  readonly #waiting: string[] = [];

  /** Throws when a line has no end. */
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
    if (this.#size > ENDLESS) throw new Error(`It wrote a line of more than ${ENDLESS} bytes.`);
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

  /** The next message, or `null`. Throws for JSON that is no message; what follows may be messages again. */
  next(): JSONRPCMessage | null {
    const text = this.#waiting.shift();
    return text === undefined ? null : parseJSONRPCMessage(readable(JSON.parse(text)));
  }
}

/** An answer in a form that is a message: one that is no message would leave its request without an answer for ever. */
function readable(message: unknown): unknown {
  if (!isRecord(message) || !("id" in message) || "method" in message) return message;
  const { result, error } = message;
  if (error !== undefined && !(isRecord(error) && typeof error.message === "string" && Number.isInteger(error.code)))
    return { ...message, error: { code: -32603, message: typeof error === "string" ? error : JSON.stringify(error) } };
  if (!("result" in message)) return message;
  if (!isRecord(result)) return { ...message, result: { content: result === null ? [] : [result] } };
  const { _meta, ...rest } = result;
  return isRecord(_meta) ? message : { ...message, result: rest };
}

const ID = String.raw`"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.){1,200}")`;
const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
/** An id in front of a result, or behind it. */
const FIRST = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?${ID}`);
const LAST = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`);

/** The error in the place of an answer of which these are the ends; nothing for a message that is no answer. */
function refusalFor({ head, tail }: { readonly head: Buffer; readonly tail: Buffer }): string[] {
  const [first, last] = [head.toString("latin1"), tail.toString("latin1")];
  const id = (FIRST.exec(first) ?? LAST.exec(last))?.[1];
  if (id === undefined || /^\s*\{[^{[]*"method"/.test(first)) return [];
  return [`{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":${JSON.stringify(TOO_LARGE)}}}`];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function messagesIn(line: string): string[] {
  const text = line.replace(/^\ufeff/, "").trim();
  if (isJson(text)) return /^[[{]/.test(text) ? [text] : [];
  const found: string[] = [];
  let start = text.indexOf("{");
  for (let looks = 0; start !== -1 && looks < MOST; looks++) {
    const end = endOf(text, start);
    const message = end === -1 ? "" : text.slice(start, end);
    const isMessage = message.includes('"jsonrpc"') && isJson(message);
    if (isMessage) found.push(message);
    start = text.indexOf("{", isMessage ? end : start + 1);
  }
  return found;
}

/** Where an object ends that begins at `start`, or -1. */
function endOf(text: string, start: number): number {
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

function isJson(text: string): boolean {
  if (text === "") return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    // A line for people.
    return false;
  }
}
