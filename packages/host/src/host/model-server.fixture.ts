import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** The body of a request to a server with the chat completions API. */
export interface SentBody {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly unknown[];
}

/** An answer: a text, or a call of a tool. */
export type Answer = string | { readonly tool: string; readonly input: object };

/** A server with the chat completions API that keeps the bodies of its requests. */
export async function modelServer(answerTo: (body: SentBody, index: number) => Answer) {
  const bodies: SentBody[] = [];
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") {
      response.writeHead(404).end();
      return;
    }
    const body = JSON.parse(await text(request)) as SentBody;
    const answer = answerTo(body, bodies.push(body) - 1);
    const call =
      typeof answer === "string" ? undefined : { name: answer.tool, arguments: JSON.stringify(answer.input) };
    const delta = call
      ? { tool_calls: [{ index: 0, id: `call_${bodies.length}`, type: "function", function: call }] }
      : { content: answer };
    const events = [{ delta }, { delta: {}, finish_reason: call ? "tool_calls" : "stop" }];
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...event }] })}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    bodies,
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
