import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import { textOf } from "../conversation/message.ts";
import { noUsage } from "../conversation/usage.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelDriver } from "../ports/model.ts";
import type { ToolContext } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import { call, collect, cut, fail, pause, readUntil, scriptedModel, spend, stall, text } from "../testing/index.ts";

const QUICK = { attempts: 3, delay: 1, maxDelay: 50, idle: 40 } as const;

const wait = defineTool({
  name: "wait",
  description: "Waits until it is told to stop.",
  input: { type: "object" },
  effects: "external",
  execute: (_, { signal, progress }) => {
    progress("begun");
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  },
});

function texts(session: Session): string[] {
  return [...session.state.messages.values()].map(textOf);
}

describe("a failing model call", () => {
  test("B9: a broken stream causes a retry; the broken answer is abandoned, and the feed says so", async () => {
    const session = Session.inMemory();
    const model = scriptedModel([[text("Brok"), cut()], "Whole."]);
    const items = await collect(new Agent({ model, retry: QUICK }).chat(say("Hi"), { session }));
    expect(texts(session)).toEqual(["Hi", "Whole."]);
    expect(items).toContainEqual(
      expect.objectContaining({ type: "message.abandoned", reason: "The scripted stream broke off." }),
    );
    expect(items).toContainEqual(expect.objectContaining({ type: "model.retrying", attempt: 2 }));
  });

  test("B9: after the last attempt the partial answer is kept and marked", async () => {
    const session = Session.inMemory();
    const model = scriptedModel(() => [text("Brok"), cut()]);
    await expect(new Agent({ model, retry: QUICK }).send("Hi", { session })).rejects.toThrow(/broke off/);
    expect(model.asked).toBe(3);
    expect([...session.state.messages.values()].at(-1)).toMatchObject({
      finish: "error",
      parts: [{ type: "text", text: "Brok" }],
    });
    expect(session.state.lastRunEnd).toBe("failed");
  });

  test("F12: a silent stream counts as broken after the idle time", async () => {
    const model = scriptedModel([[text("x"), stall()], "Whole."]);
    const turn = await new Agent({ model, retry: QUICK }).send("Hi");
    expect(turn.text).toBe("Whole.");
  });

  test("F12: a process that was suspended does not count its own pause as silence", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    let asked = 0;
    const model: ModelDriver = {
      ...scriptedModel([]),
      async stream(_, sink, signal) {
        asked++;
        const socket = connect({ port, host: "127.0.0.1", signal });
        const [service] = (await once(server, "connection")) as [Socket];
        service.end("I am here.");
        // The data of the service has arrived, but the machine sleeps before it is read.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * QUICK.idle);
        for await (const piece of socket.setEncoding("utf8")) sink.push([{ type: "text", text: piece }]);
        sink.push([{ type: "finish", reason: "stop", usage: noUsage }]);
      },
    };
    const turn = await new Agent({ model, retry: QUICK }).send("Are you there?");
    server.close();
    expect(turn.text).toBe("I am here.");
    expect(asked).toBe(1);
  });

  test("F12: a slow stream with data is not interrupted", async () => {
    const model = scriptedModel([[text("a"), pause(30), text("b"), pause(30), text("c")]]);
    expect((await new Agent({ model, retry: QUICK }).send("Hi")).text).toBe("abc");
    expect(model.asked).toBe(1);
  });

  test("a driver's chunks after its finish are ignored, and an invalid usage counts as zero", async () => {
    const driver: ModelDriver = {
      id: "loud/driver",
      family: "loud",
      async stream(_, sink) {
        sink.push([
          { type: "text", text: "ok" },
          { type: "finish", reason: "stop", usage: {} as never },
          { type: "text", text: "!" },
        ]);
        sink.push([{ type: "finish", reason: "length", usage: { ...noUsage, input: 9 } }]);
      },
    };
    const turn = await new Agent({ model: driver }).send("Hi");
    expect(turn).toMatchObject({ text: "ok", usage: noUsage, message: { finish: "stop" } });
  });

  test("F14: the provider's Retry-After is honoured, unless it is too long", async () => {
    const model = scriptedModel([[fail("rate-limit", { retryAfter: 7 })], "ok"]);
    const items = await collect(new Agent({ model, retry: QUICK }).chat(say("Hi")));
    expect(items).toContainEqual(expect.objectContaining({ type: "model.retrying", delay: 7 }));
    const patient = scriptedModel([[fail("rate-limit", { retryAfter: 60_000 })], "ok"]);
    const retry = { ...QUICK, time: 59_000 };
    await expect(new Agent({ model: patient, retry }).send("Hi")).rejects.toMatchObject({ code: "rate-limit" });
    expect(patient.asked).toBe(1);
  });

  test("an error that no retry can repair causes no retry", async () => {
    for (const code of ["authentication", "quota", "context-overflow", "invalid-request"] as const) {
      const model = scriptedModel([[fail(code)]]);
      await expect(new Agent({ model, retry: QUICK }).send("Hi")).rejects.toMatchObject({ code });
      expect(model.asked).toBe(1);
    }
  });

  test("a failure before the first word leaves no empty answer", async () => {
    const session = Session.inMemory();
    await new Agent({ model: scriptedModel([[fail("quota")]]) }).send("Hi", { session }).catch(() => {});
    expect(texts(session)).toEqual(["Hi"]);
    expect(session.state.leaf).toBe([...session.state.messages.keys()][0]);
  });

  test("calls of an answer that broke off do not run", async () => {
    const session = Session.inMemory();
    const model = scriptedModel([[call("wait"), cut()]]);
    await new Agent({ model, tools: [wait], retry: { attempts: 1 } }).send("Hi", { session }).catch(() => {});
    expect([...session.state.messages.values()].at(-1)).toMatchObject({
      finish: "error",
      calls: [{ status: "cancelled", attempt: 0 }],
    });
  });

  test("F67: a driver that breaks its contract fails the turn only, without words of its code", async () => {
    const driver = {
      id: "bad/driver",
      family: "bad",
      stream: () => Promise.reject(new TypeError("undefined is not a function")),
    };
    await expect(new Agent({ model: driver }).send("Hi")).rejects.toMatchObject({
      code: "provider",
      message: "The driver of bad/driver failed while it read the response. The log has the details.",
      cause: { detail: "undefined is not a function" },
    });
  });

  test("B20: usage counts each model call once, also those of broken answers", async () => {
    const price = { input: 1_000_000, output: 2_000_000, cached: 100_000 };
    const session = Session.inMemory();
    const look = { ...wait, name: "look", execute: () => "seen" };
    const model = scriptedModel(
      [
        [spend({ input: 10, cached: 5, output: 3, reasoning: 1 }), call("look")],
        [spend({ input: 20, output: 1 }), text("ok")],
      ],
      { price },
    );
    const turn = await new Agent({ model, tools: [look] }).send("Hi", { session });
    expect(turn.usage).toEqual({ input: 30, cached: 5, cacheWrite: 0, output: 4, reasoning: 1 });
    expect(turn.cost).toBeCloseTo(5 + 0.5 + 6 + 20 + 2);
    expect(session.state.usage).toEqual(turn.usage);
    expect(session.state.cost).toBeCloseTo(turn.cost as number);
  });

  test("B20: an unknown price is unknown, not zero", async () => {
    const turn = await new Agent({ model: scriptedModel(["ok"]) }).send("Hi");
    expect(turn.cost).toBeUndefined();
  });
});

describe("B22: an interrupt", () => {
  test("keeps and marks the partial text, and the conversation continues", async () => {
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel([[text("Once upon "), stall()], "Fine."]) });
    const feed = agent.chat(say("A story"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "text.delta");
    expect(session.interrupt()).toBe(1);
    const ended = await readUntil(feed, (item) => item.type === "run.ended");
    expect(ended).toMatchObject({ reason: "interrupted" });
    expect([...session.state.messages.values()].at(-1)).toMatchObject({ finish: "interrupted" });
    expect((await agent.send("Go on", { session })).text).toBe("Fine.");
  });

  test("stops a driver that does not listen to its signal", async () => {
    const deaf = { id: "deaf/driver", family: "deaf", stream: () => new Promise<void>(() => {}) };
    const session = Session.inMemory();
    const turn = new Agent({ model: deaf }).send("Hi", { session });
    await new Promise((resolve) => setTimeout(resolve, 5));
    session.interrupt();
    expect(await turn).toMatchObject({ reason: "interrupted", message: undefined });
  });

  test("ends running calls, cancels waiting ones, and keeps the text", async () => {
    const session = Session.inMemory();
    const model = scriptedModel([[text("Both."), call("wait"), call("wait")]]);
    const feed = new Agent({ model, tools: [wait] }).chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "call.output.delta");
    session.interrupt();
    await readUntil(feed, (item) => item.type === "chat.ended");
    expect([...session.state.messages.values()].at(-1)).toMatchObject({
      finish: "calls",
      calls: [
        { status: "cancelled", attempt: 1, output: "Stopped: interrupted by the user. Output until then:\nbegun" },
        { status: "cancelled", attempt: 0, output: "Not executed: interrupted by the user." },
      ],
    });
    expect(session.state.runs.size).toBe(0);
  });

  test("does not wait longer than three seconds for a tool that does not listen", async () => {
    const deaf = { ...wait, execute: () => new Promise(() => {}) };
    const session = Session.inMemory();
    const feed = new Agent({ model: scriptedModel([[call("wait")]]), tools: [deaf] })
      .chat(say("Go"), { session })
      [Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "call.executing");
    session.interrupt();
    await readUntil(feed, (item) => item.type === "chat.ended");
    expect([...session.state.messages.values()].at(-1)).toMatchObject({ calls: [{ status: "cancelled" }] });
  });

  test("T3: tells a running call to hurry the second time", async () => {
    const inNoHurry = (_: unknown, { hurry }: ToolContext) =>
      new Promise((resolve) => hurry.addEventListener("abort", () => resolve("now")));
    const session = Session.inMemory();
    const feed = new Agent({ model: scriptedModel([[call("wait")]]), tools: [{ ...wait, execute: inNoHurry }] })
      .chat(say("Go"), { session })
      [Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "call.executing");
    expect([session.interrupt(), session.interrupt()]).toEqual([1, 0]);
    await readUntil(feed, (item) => item.type === "chat.ended");
    expect([...session.state.messages.values()].at(-1)).toMatchObject({
      calls: [{ status: "cancelled", output: "Stopped: interrupted by the user. Output until then:\nnow" }],
    });
  });

  test("ends a wait before a retry", async () => {
    const session = Session.inMemory();
    const model = scriptedModel([[fail("overloaded", { retryAfter: 30_000 })]]);
    const feed = new Agent({ model }).chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "model.retrying");
    session.interrupt();
    expect(await readUntil(feed, (item) => item.type === "chat.ended")).toMatchObject({ reason: "interrupted" });
  });
});
