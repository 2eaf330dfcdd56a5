import { once } from "node:events";
import { ModelError } from "@banyan/core";
import type { ModelPart, ModelSink } from "@banyan/core/drivers";
import { describe, expect, test } from "vitest";
import { openAIChat } from "../openai-chat/driver.ts";
import { bodyOf, chunk, eventOf, serve, streamed } from "../testing/server.ts";
import { answerOf, KeepingSink, say } from "../testing/sink.ts";

function driverAt(baseURL: string) {
  return openAIChat({ id: "openai-chat/m", model: "m", baseURL });
}

async function failure(answer: Promise<unknown>): Promise<ModelError> {
  const error = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ModelError);
  return error as ModelError;
}

const never = new AbortController().signal;

describe("connections", () => {
  test("a socket that is cut in the stream is a broken stream", async () => {
    await using server = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(eventOf(chunk({ content: "Hel" })), () => response.destroy());
    });
    const sink = new KeepingSink();
    const error = await failure(driverAt(server.baseURL).stream(say("x"), sink, never));
    expect(error).toMatchObject({ code: "broken-stream", retryable: true });
    expect(sink.parts).toEqual([{ type: "text", text: "Hel" }]);
  });

  test("a socket that is cut after the finish reason does no harm", async () => {
    await using server = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(eventOf(chunk({ content: "Hello" }, "stop")), () => response.destroy());
    });
    expect((await answerOf(driverAt(server.baseURL), say("x"))).map(({ type }) => type)).toEqual(["text", "finish"]);
  });

  test("a connection that stays open after [DONE] causes no wait", async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(eventOf(chunk({ content: "Hello" }, "stop")) + eventOf("[DONE]"));
      response.on("close", () => closed.resolve());
    });
    expect((await answerOf(driverAt(server.baseURL), say("x"))).at(-1)).toMatchObject({ type: "finish" });
    await closed.promise;
  });

  test("one connection serves several streams in turn", async () => {
    await using server = await serve((_, response) => streamed(response, chunk({ content: "A" }, "stop"), "[DONE]"));
    const driver = driverAt(server.baseURL);
    for (let i = 0; i < 3; i++) {
      await answerOf(driver, say("x"));
      // The connection is free one turn of the event loop after the end arrived.
      await new Promise(setImmediate);
    }
    expect(server.connections).toBe(1);
  });

  test("streams run at the same time and do not disturb each other", async () => {
    let waiting = 0;
    const all = Promise.withResolvers<void>();
    await using server = await serve(async (request, response) => {
      const { messages } = JSON.parse(await bodyOf(request));
      if (++waiting === 5) all.resolve();
      await all.promise;
      streamed(response, chunk({ content: messages[0].content }, "stop"), "[DONE]");
    });
    const driver = driverAt(server.baseURL);
    const answers = await Promise.all(["a", "b", "c", "d", "e"].map((text) => answerOf(driver, say(text))));
    expect(answers.map(([part]) => (part as { text: string }).text)).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("one batch has the content of one read", async () => {
    await using server = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.socket?.cork();
      for (const text of ["a", "b", "c"]) response.write(eventOf(chunk({ content: text })));
      response.end(eventOf(chunk({}, "stop")));
      response.socket?.uncork();
    });
    const sink = new KeepingSink();
    await driverAt(server.baseURL).stream(say("x"), sink, never);
    expect(sink.batches).toHaveLength(1);
    expect(sink.parts[0]).toEqual({ type: "text", text: "abc" });
  });
});

describe("ending early", () => {
  /** Sends one word, then nothing more. Resolves when the client has gone. */
  async function silentServer() {
    const gone = Promise.withResolvers<void>();
    const server = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(eventOf(chunk({ content: "Hel" })));
      response.on("close", () => gone.resolve());
    });
    return Object.assign(server, { gone: gone.promise });
  }

  test("F12: an abort ends a silent stream at once, with its reason", async () => {
    await using server = await silentServer();
    const abort = new AbortController();
    const pushed = Promise.withResolvers<void>();
    const parts: ModelPart[] = [];
    const sink: ModelSink = {
      push(batch) {
        parts.push(...batch);
        pushed.resolve();
        return true;
      },
      ready: async () => {},
    };
    const answer = driverAt(server.baseURL).stream(say("x"), sink, abort.signal);
    await pushed.promise;
    const reason = new Error("enough");
    abort.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await server.gone;
    expect(parts).toEqual([{ type: "text", text: "Hel" }]);
  });

  test("an abort before the head of the answer ends the request too", async () => {
    const asked = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    await using server = await serve((_, response) => {
      response.on("close", () => gone.resolve());
      asked.resolve();
    });
    const abort = new AbortController();
    const answer = answerOf(driverAt(server.baseURL), say("x"), abort.signal);
    await asked.promise;
    abort.abort("enough");
    await expect(answer).rejects.toBe("enough");
    await gone.promise;
  });

  test("no request is sent after an abort", async () => {
    await using server = await serve((_, response) => streamed(response, "[DONE]"));
    await expect(answerOf(driverAt(server.baseURL), say("x"), AbortSignal.abort("enough"))).rejects.toBe("enough");
    expect(server.connections).toBe(0);
  });

  test("a sink that throws an error ends the request", async () => {
    await using server = await silentServer();
    const sink: ModelSink = {
      push() {
        throw new Error("broken sink");
      },
      ready: async () => {},
    };
    await expect(driverAt(server.baseURL).stream(say("x"), sink, never)).rejects.toThrow("broken sink");
    await server.gone;
  });
});

describe("a full sink", () => {
  const size = 64 * 1024;
  const count = 1000;

  /** Sends 64 MB as fast as possible, and reports its progress. */
  async function eagerServer() {
    const state = { sent: 0, finished: false };
    const event = eventOf(chunk({ content: "x".repeat(size) }));
    const server = await serve(async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const gone = once(response, "close");
      for (; state.sent < count && !response.destroyed; state.sent++) {
        if (!response.write(event)) await Promise.race([new Promise((go) => response.once("drain", go)), gone]);
      }
      state.finished = true;
      response.end(eventOf(chunk({}, "stop")) + eventOf("[DONE]"));
    });
    return Object.assign(server, { state });
  }

  /** Waits until the server is blocked because the client does not read, or has sent everything. */
  async function stalled(state: { readonly sent: number; readonly finished: boolean }): Promise<void> {
    for (let same = 0, before = -1; same < 10 && !state.finished; ) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      same = state.sent === before ? same + 1 : 0;
      before = state.sent;
    }
  }

  test("stops the reading of the socket until there is room, and loses nothing", async () => {
    await using server = await eagerServer();
    const room = Promise.withResolvers<void>();
    let pushes = 0;
    let length = 0;
    const sink: ModelSink = {
      push(batch) {
        pushes++;
        for (const part of batch) if (part.type === "text") length += part.text.length;
        return pushes !== 1;
      },
      ready: () => room.promise,
    };
    const answer = driverAt(server.baseURL).stream(say("x"), sink, never);
    await stalled(server.state);
    expect(pushes).toBe(1);
    expect(server.state.finished).toBe(false);
    room.resolve();
    await answer;
    expect(length).toBe(size * count);
  });

  test("does not keep an abort waiting", async () => {
    await using server = await eagerServer();
    const full = Promise.withResolvers<void>();
    const sink: ModelSink = {
      push() {
        full.resolve();
        return false;
      },
      ready: () => new Promise(() => {}),
    };
    const abort = new AbortController();
    const answer = driverAt(server.baseURL).stream(say("x"), sink, abort.signal);
    await full.promise;
    abort.abort("enough");
    await expect(answer).rejects.toBe("enough");
  });

  test("gets the rest and the end after the answer ended", async () => {
    await using server = await serve(async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(eventOf(chunk({ content: "a" })));
      await new Promise((resolve) => setTimeout(resolve, 20));
      response.end(eventOf(chunk({ content: "b" }, "stop")) + eventOf("[DONE]"));
    });
    const sink = new (class extends KeepingSink {
      override push(parts: readonly ModelPart[]): boolean {
        super.push(parts);
        return false;
      }
      override ready(): Promise<void> {
        return new Promise((resolve) => setTimeout(resolve, 60));
      }
    })();
    await driverAt(server.baseURL).stream(say("x"), sink, never);
    expect(sink.parts).toEqual([{ type: "text", text: "ab" }, expect.objectContaining({ type: "finish" })]);
  });
});
