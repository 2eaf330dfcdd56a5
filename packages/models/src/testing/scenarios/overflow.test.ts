import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, defineTool, Session } from "@banyan/core";
import { LLMock } from "@copilotkit/aimock";
import { describe, expect, test } from "vitest";
import { formats, openAt } from "./formats.ts";

/** Tokens of the windows, and characters per token, as the server counts. */
const WINDOW = 12_000;
const CHARACTERS = 4;

// A provider's refusal of an oversized request of a format: status and body.
const REFUSALS: readonly (readonly [path: RegExp, refuse: (sent: number) => readonly [number, object]])[] = [
  [
    /chat\/completions|responses/,
    (sent) => [
      400,
      {
        error: {
          message: `This model's maximum context length is ${WINDOW} tokens. However, your messages resulted in ${sent} tokens.`,
          type: "invalid_request_error",
          code: "context_length_exceeded",
        },
      },
    ],
  ],
  [
    /\/messages/,
    (sent) => [
      400,
      {
        type: "error",
        error: { type: "invalid_request_error", message: `prompt is too long: ${sent} tokens > ${WINDOW} maximum` },
      },
    ],
  ],
  [
    /generateContent/i,
    (sent) => [
      400,
      {
        error: {
          code: 400,
          message: `The input token count (${sent}) exceeds the maximum number of tokens allowed (${WINDOW}).`,
          status: "INVALID_ARGUMENT",
        },
      },
    ],
  ],
];

/** A server in front of a mock that refuses oversized requests with the text of the format's provider. */
async function windowed(mock: string) {
  const sizes: number[] = [];
  let refused = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const tokens = Math.ceil(body.length / CHARACTERS);
    const refuse = REFUSALS.find(([path]) => path.test(request.url ?? ""))?.[1];
    if (tokens > WINDOW && refuse) {
      refused++;
      const [status, told] = refuse(tokens);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(told));
      return;
    }
    sizes.push(tokens);
    const { host: _, "content-length": __, ...headers } = request.headers;
    const answer = await fetch(new URL(request.url ?? "/", mock), {
      method: "POST",
      headers: headers as Record<string, string>,
      body,
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sizes,
    refusals: () => refused,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

let looked = 0;
const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  effects: "none",
  execute: () => `${++looked} `.padEnd(6_000, "lorem ipsum "),
});

describe("F89: over HTTP, in the words of each provider,", () => {
  test.each(formats.map((format) => [format.name, format] as const))(
    "%s: a long turn answers, the window is learnt, and the next conversation is not refused",
    async (_, format) => {
      const mock = new LLMock({ port: 0, logLevel: "silent", strict: true });
      // Providers put results and user texts into one message or several.
      const isSummary = ({ messages }: { readonly messages: readonly unknown[] }) =>
        /(Sum up|Summari[sz]e) the conversation/.test(JSON.stringify(messages.slice(-2)));
      let calls = 0;
      mock.addFixture({ match: { predicate: isSummary }, response: { content: "What matters." } });
      mock.addFixture({
        match: { predicate: (request) => !isSummary(request) && calls++ < 24 },
        response: { toolCalls: [{ name: "look", arguments: "{}" }] },
      });
      mock.addFixture({ match: { predicate: () => true }, response: { content: "Done." } });
      await mock.start();
      try {
        await using server = await windowed(mock.url);
        const model = await openAt(format, server.address);
        const agent = new Agent({
          model,
          tools: [look],
          limits: { steps: 60 },
          compaction: { contextSize: 1_000_000 },
        });
        expect(await agent.send("Look around.", { session: Session.inMemory() })).toMatchObject({ text: "Done." });
        const refusals = server.refusals();
        expect(refusals).toBeGreaterThan(0);
        expect(refusals).toBeLessThanOrEqual(4);
        calls = 0;
        expect(await agent.send("Look again.", { session: Session.inMemory() })).toMatchObject({ text: "Done." });
        expect(server.refusals()).toBeLessThanOrEqual(refusals + 2);
        expect(Math.max(...server.sizes)).toBeLessThanOrEqual(WINDOW);
      } finally {
        await mock.stop();
      }
    },
  );
});
