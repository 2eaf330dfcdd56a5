import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { CLIENTS, connectTo } from "../clients/index.ts";
import type { Measure } from "../measure.ts";
import { AGENTS } from "../peers.ts";

const ROUNDS = 50;
const QUESTIONS = 10;
const OUTPUT = "A banyan is a fig that begins its life in the crown of another tree. ".repeat(4);

export const cache: Measure = {
  name: "cache",
  what: "the share of each request that a provider's prompt cache cannot use: bytes, tools before messages, with which the next request does not begin; in a conversation of 50 tool calls and 10 questions",
  subjects: CLIENTS,
  bounds: [],
  rivals: AGENTS,
  figures: [{ name: "lost", unit: "%" }],
  targets: [{ figure: "lost", subject: "engine", most: 2 }],
  rounds: 1,
  async run(subject, lab) {
    const bodies: string[] = [];
    const recorder = createServer(async (request, response) => {
      const { url = "", method = "" } = request;
      const body = await buffer(request);
      bodies.push(String(body));
      const answer = await fetch(lab.provider + url, { method, body });
      response.writeHead(answer.status, { "content-type": "text/event-stream" });
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
    await new Promise<void>((listening) => recorder.listen(0, "127.0.0.1", listening));
    const provider = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`;
    const client = await connectTo({ ...lab, provider }, `loop/${ROUNDS}`, subject);
    const conversation = await client.open(() => OUTPUT);
    for (let question = 1; question <= QUESTIONS; question++) await conversation.ask(`Question ${question}?`);
    await conversation.close?.();
    recorder.closeAllConnections();
    recorder.close();
    if (bodies.length !== ROUNDS + QUESTIONS) throw new Error(`${bodies.length} requests were sent.`);
    return { lost: 100 * lostShare(bodies) };
  },
};

function lostShare(bodies: readonly string[]): number {
  const requests = bodies.map((body) => {
    const { tools, messages } = JSON.parse(body) as { readonly tools?: unknown; readonly messages: unknown };
    // Without the bracket at the end, where the next request has more messages.
    return JSON.stringify(tools) + JSON.stringify(messages).slice(0, -1);
  });
  let [lost, all] = [0, 0];
  for (const [index, next] of requests.entries()) {
    const before = requests[index - 1] ?? "";
    let shared = 0;
    while (shared < before.length && before[shared] === next[shared]) shared++;
    lost += before.length - shared;
    all += before.length;
  }
  return lost / all;
}
