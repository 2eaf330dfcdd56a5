import { cutTo } from "@banyan/core/shown";
import type { FetchLike } from "@modelcontextprotocol/client";
import { McpError } from "../entries/error.ts";
import { LARGEST_ANSWER, TOO_LARGE } from "./message-lines.ts";

/** Of an error that stands in the place of an answer that never came. */
export const UNANSWERED = "unanswered";

/** UTF-16 units of an answer that have room in a sentence. */
const LONGEST = 200;

type Message = Readonly<Record<string, unknown>>;

/**
 * Fetches for the address of one server. An answer to a request that is no JSON-RPC rejects with an `McpError`, which says
 * what came instead (F50). JSON-RPC of another content type is read, and a stream that ends without the answer gets an error
 * as its last message.
 */
export function readableFetch(fetch: FetchLike, address: string): FetchLike {
  const home = new URL(address).href;
  return async (input, init = {}) => {
    const response = await fetch(input, init);
    const request = new URL(input).href === home && init.method === "POST" ? messageIn(init.body) : undefined;
    // Only requests have ids; 202 answers messages that need no answer, and what it answers otherwise may come later.
    if (!response.ok || response.status === 202 || request?.id === undefined) return response;
    const type = response.headers.get("content-type") ?? "";
    if (/^text\/event-stream\b/i.test(type) && response.body) return withLastWord(response, response.body, request.id);
    const text = await textOf(response);
    const answers = [jsonIn(text)].flat().filter(isMessage);
    if (answers.length === 0 || answers.some(({ jsonrpc }) => jsonrpc !== "2.0")) throw unreadable(text);
    const own = answers.find(({ id }) => id === request.id);
    // Servers that could not read a request give their error no id.
    const nameless = answers.find(({ id, error }) => id === null && error !== undefined);
    if (!own && !nameless) throw new McpError("refused", "it answered another request");
    const headers = new Headers(response.headers);
    headers.set("content-type", "application/json");
    const body = own ? text : JSON.stringify({ ...nameless, id: request.id });
    return new Response(body, { status: response.status, headers });
  };
}

/** The text of a body. Rejects with an `McpError` when it is larger than an answer may be (F108). */
async function textOf({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body ?? []) {
    size += piece.length;
    if (size > LARGEST_ANSWER) throw new McpError("refused", TOO_LARGE);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** The words of a body for people: the title of a page, the message of an error in JSON, else its first line; may be empty. */
export function wordsIn(body: string): string {
  const { error, message } = messageIn(body) ?? {};
  const told = isMessage(error) ? error.message : (error ?? message);
  const page = /<title[^>]*>([^<]*)/i.exec(body)?.[1] ?? "";
  const words = typeof told === "string" ? told : isPage(body) ? page : /^\s*[[{]/.test(body) ? "" : body;
  const plain = words
    .replace(/<[!?/a-z].*/is, "")
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return cutTo(plain, LONGEST);
}

function unreadable(text: string): McpError {
  if (text.trim() === "") return new McpError("gone", "it answered with an empty body");
  const isJson = jsonIn(text) !== undefined;
  if (!isJson && /^\s*[[{]/.test(text)) return new McpError("gone", "its answer is JSON that breaks off");
  const words = wordsIn(text);
  const kind = isPage(text) ? "a web page" : isJson ? "JSON" : "text";
  const quoted = words === "" ? "" : ` ("${words}")`;
  return new McpError("refused", `it answered with ${kind}${quoted}, not with JSON-RPC; check the url`);
}

function isPage(text: string): boolean {
  return /^\s*<[!?a-z]/i.test(text);
}

function messageIn(text: unknown): Message | undefined {
  const value = jsonIn(text);
  return isMessage(value) ? value : undefined;
}

function jsonIn(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    // Whoever asks says what else it may be.
    return undefined;
  }
}

function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null;
}

/** A stream of events whose last message answers the request, if no earlier one did. One that can be resumed stays as it is. */
function withLastWord(response: Response, body: ReadableStream<Uint8Array>, id: unknown): Response {
  const decoder = new TextDecoder();
  let rest = "";
  let isSettled = false;
  const lastWord = (error: object) =>
    new TextEncoder().encode(`\n\nevent: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, error })}\n\n`);
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      if (isSettled) return controller.enqueue(piece);
      const events = (rest + decoder.decode(piece, { stream: true })).split(/\r?\n\r?\n|\r\r/);
      rest = events.pop() ?? "";
      isSettled = events.some((event) => /^id:/m.test(event) || messageIn(dataOf(event))?.id === id);
      if (![rest, ...events].some(({ length }) => length > LARGEST_ANSWER)) return controller.enqueue(piece);
      controller.enqueue(lastWord({ code: -32_603, message: TOO_LARGE }));
      isSettled = true;
      controller.terminate();
    },
    flush(controller) {
      if (isSettled) return;
      controller.enqueue(lastWord({ code: -32_000, message: "the stream ended without an answer", data: UNANSWERED }));
    },
  });
  return new Response(body.pipeThrough(watch), { status: response.status, headers: response.headers });
}

function dataOf(event: string): string {
  return [...event.matchAll(/^data: ?(.*)$/gm)].map(([, data]) => data).join("\n");
}
