// AI SDK: a server of Hono for `useChat`, with history, stop, and a reload in the middle of an answer.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { openai } from "@ai-sdk/openai";
import { serve } from "@hono/node-server";
import {
  convertToModelMessages,
  createUIMessageStreamResponse,
  streamText,
  type UIMessage,
  type UIMessageChunk,
} from "ai";
import { Hono } from "hono";

const file = (id: string) => `conversations/${encodeURIComponent(id)}.json`;
const load = (id: string): UIMessage[] => (existsSync(file(id)) ? JSON.parse(readFileSync(file(id), "utf8")) : []);
function save(id: string, messages: UIMessage[]): void {
  mkdirSync("conversations", { recursive: true });
  writeFileSync(file(id), JSON.stringify(messages));
}

/** The answers that are being written: the chunks so far, and the readers of the next chunks. */
interface Answer {
  readonly chunks: UIMessageChunk[];
  readonly readers: Set<ReadableStreamDefaultController<UIMessageChunk>>;
}
const answers = new Map<string, Answer>();
function read({ chunks, readers }: Answer): Response {
  let reader: ReadableStreamDefaultController<UIMessageChunk>;
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      reader = controller;
      for (const chunk of chunks) controller.enqueue(chunk);
      readers.add(controller);
    },
    cancel: () => void readers.delete(reader),
  });
  return createUIMessageStreamResponse({ stream });
}

const app = new Hono();
app.use(async ({ req, text }, next) => (req.header("cookie") === "user=ada" ? next() : text("Sign in first.", 401)));
app.post("/api/chat", async ({ req }) => {
  const { id, messages: given } = await req.json<{ id: string; messages: UIMessage[] }>();
  const messages = [...load(id), ...given.slice(-1)];
  save(id, messages);
  const result = streamText({ model: openai("gpt-5-mini"), messages: await convertToModelMessages(messages) });
  const answer: Answer = { chunks: [], readers: new Set() };
  answers.set(id, answer);
  const stream = result.toUIMessageStream({ originalMessages: messages, onEnd: ({ messages }) => save(id, messages) });
  (async () => {
    for await (const chunk of stream) {
      answer.chunks.push(chunk);
      for (const reader of answer.readers) reader.enqueue(chunk);
    }
    answers.delete(id);
    for (const reader of answer.readers) reader.close();
  })().catch(console.error);
  return read(answer);
});
app.get("/api/chat/:id/stream", ({ req, body }) => {
  const answer = answers.get(req.param("id"));
  return answer ? read(answer) : body(null, 204);
});
app.get("/api/chat/:id", ({ req, json }) => json({ messages: load(req.param("id")) }));
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => console.log(port));
