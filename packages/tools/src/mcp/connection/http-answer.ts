import { cutTo, parseJsonText } from "@banyan/core/shown";
import type { FetchLike } from "@modelcontextprotocol/client";
import { McpError } from "../entries/error.ts";
import { LARGEST_ANSWER, TOO_LARGE } from "./message-lines.ts";

/** The mark of an error that stands for a missing response. */
export const UNANSWERED = "unanswered";

const LONGEST = 200;

type JsonRpcMessage = Readonly<Record<string, unknown>>;

/**
 * Returns a `fetch` for one server. If a response is not JSON-RPC, `fetch` rejects with an `McpError` that quotes the
 * response (F50). JSON-RPC with another content type is accepted. If an event stream ends without the response, an
 * error is added as its last message.
 */
export function readableFetch(fetch: FetchLike, address: string): FetchLike {
  const home = new URL(address).href;
  return async (input, init = {}) => {
    const response = await fetch(input, init);
    const request = new URL(input).href === home && init.method === "POST" ? parseMessage(init.body) : undefined;
    if (!response.ok || response.status === 202 || request?.id === undefined) return response;
    const type = response.headers.get("content-type") ?? "";
    if (/^text\/event-stream\b/i.test(type) && response.body) return withLastWord(response, response.body, request.id);
    const text = await readBodyText(response);
    const answers = [parseJsonText(String(text))].flat().filter(isMessage);
    if (answers.length === 0 || answers.some(({ jsonrpc }) => jsonrpc !== "2.0")) throw unreadableAnswerError(text);
    const own = answers.find(({ id }) => id === request.id);
    // A server that could not read the request sends its error without an id.
    const nameless = answers.find(({ id, error }) => id === null && error !== undefined);
    if (!own && !nameless) throw new McpError("refused", "it answered another request");
    const headers = new Headers(response.headers);
    headers.set("content-type", "application/json");
    const body = own ? text : JSON.stringify({ ...nameless, id: request.id });
    return new Response(body, { status: response.status, headers });
  };
}

/** Rejects with an `McpError` if the body is larger than `LARGEST_ANSWER` (F108). */
async function readBodyText({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body ?? []) {
    size += piece.length;
    if (size > LARGEST_ANSWER) throw new McpError("refused", TOO_LARGE);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/**
 * Returns the readable part of a body: the title of a page, the message of a JSON error, or the first line. The text
 * can be empty.
 */
export function bodyMessage(body: string): string {
  const { error, message } = parseMessage(body) ?? {};
  const text = isMessage(error) ? error.message : (error ?? message);
  const page = /<title[^>]*>([^<]*)/i.exec(body)?.[1] ?? "";
  const words = typeof text === "string" ? text : isPage(body) ? page : /^\s*[[{]/.test(body) ? "" : body;
  const plain = words
    .replace(/<[!?/a-z].*/is, "")
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return cutTo(plain, LONGEST);
}

function unreadableAnswerError(text: string): McpError {
  if (text.trim() === "") return new McpError("gone", "it answered with an empty body");
  const isJson = parseJsonText(String(text)) !== undefined;
  if (!isJson && /^\s*[[{]/.test(text)) return new McpError("gone", "its answer is JSON that breaks off");
  const words = bodyMessage(text);
  const kind = isPage(text) ? "a web page" : isJson ? "JSON" : "text";
  const quoted = words === "" ? "" : ` ("${words}")`;
  return new McpError("refused", `it answered with ${kind}${quoted}, not with JSON-RPC; check the url`);
}

function isPage(text: string): boolean {
  return /^\s*<[!?a-z]/i.test(text);
}

function parseMessage(text: unknown): JsonRpcMessage | undefined {
  const value = parseJsonText(String(text));
  return isMessage(value) ? value : undefined;
}

function isMessage(value: unknown): value is JsonRpcMessage {
  return typeof value === "object" && value !== null;
}

/** Adds an error as the last message of an event stream that ends without the response. A resumable stream is unchanged. */
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
      isSettled = events.some(
        (event) =>
          /^id:/m.test(event) ||
          parseMessage([...event.matchAll(/^data: ?(.*)$/gm)].map(([, data]) => data).join("\n"))?.id === id,
      );
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
