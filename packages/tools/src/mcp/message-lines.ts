import { type JSONRPCMessage, parseJSONRPCMessage, STDIO_DEFAULT_MAX_BUFFER_SIZE } from "@modelcontextprotocol/client";

/** Places in a line at which a message is looked for behind noise. */
const MOST = 100;

/**
 * The messages in the output of a program, one JSON document a line (F68). Lines may end with CRLF or begin with a byte order mark.
 * Log lines are passed over, and a message is found that stands behind or before noise on its line.
 */
export class MessageLines {
  /** A line whose end has not come. */
  #open: Buffer[] = [];
  #size = 0;
  readonly #waiting: string[] = [];

  /** Throws when a line has no end. */
  append(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf("\n"); end !== -1; end = bytes.indexOf("\n", start)) {
      const line = Buffer.concat([...this.#open, bytes.subarray(start, end)]).toString("utf8");
      this.#open = [];
      this.#size = 0;
      this.#waiting.push(...messagesIn(line));
      start = end + 1;
    }
    if (start === bytes.length) return;
    this.#open.push(bytes.subarray(start));
    this.#size += bytes.length - start;
    if (this.#size <= STDIO_DEFAULT_MAX_BUFFER_SIZE) return;
    this.#open = [];
    throw new Error(`It wrote a line of more than ${STDIO_DEFAULT_MAX_BUFFER_SIZE} bytes.`);
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
