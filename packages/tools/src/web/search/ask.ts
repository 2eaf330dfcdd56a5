import { cutTo, errorMessage, parseJsonText } from "@banyan/core/shown";
import type { z } from "zod";
import { WebError } from "../error.ts";

/** A request to a search service. */
export interface SearchRequest {
  /** The service's name, for users. */
  readonly service: string;
  readonly address: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body of the request, which is sent as JSON with POST. */
  readonly body?: unknown;
  readonly signal: AbortSignal;
}

const TIMEOUT = 20_000;
const MOST_BYTES = 2 * 1024 * 1024;
const MOST_OF_FAILURE = 300;

/**
 * Sends a request to a search service, through the environment's proxy if set. Returns JSON that fits the schema. The
 * user chose the service, so the service may be local. Redirects are errors. Rejects with a `WebError`.
 */
export async function askSearchService<Schema extends z.ZodType>(
  question: SearchRequest,
  schema: Schema,
): Promise<z.infer<Schema>> {
  const { service, address, headers, body } = question;
  const { EnvHttpProxyAgent, fetch } = await import("undici");
  const late = AbortSignal.timeout(TIMEOUT);
  const agent = new EnvHttpProxyAgent();
  let text = "";
  try {
    const response = await fetch(address, {
      headers: {
        accept: "application/json",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      // The headers contain the key.
      redirect: "error",
      dispatcher: agent,
      signal: AbortSignal.any([question.signal, late]),
    });
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) {
      text += decoder.decode(piece, { stream: true });
      if (text.length > MOST_BYTES) throw new WebError("content", `${service} sent a response that is too large.`);
    }
    if (!response.ok) throw refusedSearchError(service, response.status, text);
  } catch (error) {
    question.signal.throwIfAborted();
    throw searchError(service, late.aborted, error);
  } finally {
    await agent.destroy();
  }
  const parsed = schema.safeParse(parseJsonText(text));
  if (parsed.success) return parsed.data;
  throw new WebError(
    "content",
    `${service} sent a response in an unknown format. Ask the user to check the search settings.`,
  );
}

function refusedSearchError(service: string, status: number, text: string): WebError {
  const hint =
    status === 401 || status === 403
      ? "The service rejects the key, or does not allow this use of the key. Ask the user to check the settings."
      : status === 429
        ? "Too many searches. Wait, then search less often."
        : cutTo(text, MOST_OF_FAILURE, "");
  return new WebError("status", `${service} answered ${status}. ${hint}`.trim());
}

function searchError(service: string, isLate: boolean, error: unknown): WebError {
  if (error instanceof WebError) return error;
  if (isLate) return new WebError("time", `${service} did not answer within ${TIMEOUT} ms.`, { cause: error });
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const why = errorMessage(cause);
  return new WebError("network", `${service} could not be reached: ${why}.`, { cause: error });
}
