import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A response of the server, in order: reasoning, text, calls. */
export interface ServerAnswer {
  readonly reasoning?: string;
  /** Each element is sent separately. */
  readonly text?: string | readonly string[];
  readonly calls?: readonly { readonly tool: string; readonly input: object }[];
  /** Reported token usage. */
  readonly tokens?: readonly [sent: number, answered: number, cached?: number];
  /** Milliseconds before each piece. */
  readonly pace?: number;
  /** Delays everything after the first piece. */
  readonly held?: Promise<void>;
  /** Sends nothing after the text, and does not end. */
  readonly stalls?: boolean;
  /** Finish reason in the API's format. Default: `stop`, or `tool_calls` if there are calls. */
  readonly finish?: string;
  /** Fails with this HTTP status instead. */
  readonly status?: number;
}

/** A response that calls the shell. */
export function shell(command: string): ServerAnswer {
  return { calls: [{ tool: "shell", input: { command } }] };
}

/** A response that writes a file. */
export function write(path: string, content: string): ServerAnswer {
  return { calls: [{ tool: "write", input: { path, content } }] };
}

export interface ModelServer extends AsyncDisposable {
  /** Environment variables for the command, with the address of `openai-compatible/...`. */
  readonly env: Readonly<Record<string, string>>;
  /** Messages of each request. */
  readonly asked: readonly (readonly { readonly role: string; readonly content: unknown }[])[];
  /** Size of each request in bytes. */
  readonly sizes: readonly number[];
}

/** Content of a request. */
export interface ServerRequest {
  readonly model: string;
  readonly messages: ModelServer["asked"][number];
}

/**
 * A server in the OpenAI chat format that returns the answers in order, and repeats the last one. A function computes
 * its answer from the request.
 */
export async function modelServer(
  ...answers: readonly (ServerAnswer | ((request: ServerRequest) => ServerAnswer))[]
): Promise<ModelServer> {
  const asked: ModelServer["asked"][number][] = [];
  const sizes: number[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (request.method === "GET") return void response.end(JSON.stringify({ data: [{ id: "test" }] }));
    const wanted: ServerRequest = JSON.parse(body);
    asked.push(wanted.messages);
    sizes.push(Buffer.byteLength(body));
    const given = answers[Math.min(asked.length, answers.length) - 1] ?? {};
    const answer = typeof given === "function" ? given(wanted) : given;
    if (answer.status === undefined) await speak(answer, asked.length, response);
    else response.writeHead(answer.status).end(JSON.stringify({ error: { message: "so it was told to fail" } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const address = `http://127.0.0.1:${port}/v1`;
  return {
    env: { OPENAI_COMPATIBLE_BASE_URL: address, OPENAI_BASE_URL: address },
    asked,
    sizes,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function speak(answer: ServerAnswer, number: number, response: ServerResponse): Promise<void> {
  const {
    reasoning,
    text = [],
    calls = [],
    tokens: [sent, answered, cached] = [10, 5],
    pace = 0,
    held,
    stalls = false,
    finish = calls.length > 0 ? "tool_calls" : "stop",
  } = answer;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: object, finish: string | null = null) => {
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  };
  if (reasoning) send({ reasoning_content: reasoning });
  for (const [index, piece] of [text].flat().entries()) {
    if (pace > 0) await sleep(pace);
    if (index > 0) await held;
    if (response.destroyed) return;
    send({ content: piece });
  }
  await held;
  if (stalls) return;
  calls.forEach(({ tool, input }, index) => {
    const id = `call_${number}_${index}`;
    send({ tool_calls: [{ index, id, type: "function", function: { name: tool, arguments: JSON.stringify(input) } }] });
  });
  send({}, finish);
  const usage = {
    prompt_tokens: sent,
    completion_tokens: answered,
    total_tokens: sent + answered,
    ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
  };
  response.write(`data: ${JSON.stringify({ choices: [], usage })}\n\n`);
  response.end("data: [DONE]\n\n");
}
