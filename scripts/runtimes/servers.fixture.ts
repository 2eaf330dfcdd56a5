import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { LLMock } from "@copilotkit/aimock";
import type { Addresses } from "./conformance.ts";

/** The servers that the conformance suite talks to. */
export interface Servers extends Addresses, AsyncDisposable {}

const PAGES = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "*",
};

const event = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

/** Starts the servers on 127.0.0.1. They also answer pages of other origins. */
export async function startServers(): Promise<Servers> {
  const mock = new LLMock({ port: 0, chunkSize: 4, latency: 20, logLevel: "silent" });
  mock.onMessage("Hello", { content: "Good morning, dear wörld. 🌳" });
  mock.onMessage("Which city?", { content: '{"city":"Rome"}' });
  mock.onMessage("picture", { content: "A tree." });
  mock.on({ userMessage: "weather", hasToolResult: true }, { content: "It is sunny." });
  mock.onMessage("weather", { toolCalls: [{ name: "weather", arguments: '{"city":"Rome"}' }] });
  await mock.start();
  let failures = 0;
  const slow = createServer((request, response) => {
    const path = request.url ?? "";
    request.resume();
    if (request.method === "OPTIONS") return response.writeHead(204, PAGES).end();
    // Each second request fails.
    if (path.includes("broken") && failures++ % 2 === 0) {
      return response.writeHead(503, { ...PAGES, "content-type": "application/json" }).end("{}");
    }
    response.writeHead(200, { ...PAGES, "content-type": "text/event-stream" });
    if (path.includes("broken"))
      return response.end(`${event({ content: "At last" })}${event({}, "stop")}data: [DONE]\n\n`);
    return response.write(event({ content: "Once" }));
  });
  slow.listen(0, "127.0.0.1");
  await once(slow, "listening");
  return {
    mock: mock.url,
    slow: `http://127.0.0.1:${(slow.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      slow.closeAllConnections();
      slow.close();
      await mock.stop();
    },
  };
}
