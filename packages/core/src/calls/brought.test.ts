import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import { isEvent } from "../conversation/feed-item.ts";
import { emptyConversation } from "../conversation/state.ts";
import { reduce } from "../conversation/tree/reduce.ts";
import type { ToolContext } from "../ports/tool.ts";
import type { BroughtBytes } from "../ports/tool-values.ts";
import { Session } from "../session/session.ts";
import { call, collect, scriptedModel } from "../testing/index.ts";
import { tool } from "./calls.fixture.ts";

const PNG = `iVBORw0KGgo${"A".repeat(53)}`;
const PDF = btoa("%PDF-1.7 and so on");
const png: BroughtBytes = { mediaType: "image/png", name: "dot.png", data: PNG };

async function brought(...files: readonly BroughtBytes[]) {
  const camera = tool("camera", (_, context: ToolContext) => {
    for (const file of files) context.attach(file);
    return "seen";
  });
  const session = Session.inMemory();
  const model = scriptedModel([[call("camera")], [call("camera")], "ok"]);
  const items = await collect(new Agent({ model, tools: [camera] }).chat(say("Look."), { session }));
  const last = model.requests.at(-1)?.messages.filter(({ role }) => role === "assistant") ?? [];
  const results = last.flatMap((message) => (message.role === "assistant" ? message.results : []));
  return { events: items.filter(isEvent), results, session };
}

describe("C4: files that a call brings", () => {
  test("are in the log once, by their digest, and reach the model with the result", async () => {
    const { events, results, session } = await brought(png, { mediaType: "application/pdf", data: PDF });
    const stored = events.flatMap((event) => (event.type === "content.stored" && event.mediaType ? [event] : []));
    expect(stored.map(({ mediaType, text }) => [mediaType, text])).toEqual([
      ["image/png", PNG],
      ["application/pdf", PDF],
    ]);
    const ended = events.filter(({ type }) => type === "call.completed");
    const named = [
      { mediaType: "image/png", name: "dot.png", digest: stored[0]?.digest },
      { mediaType: "application/pdf", digest: stored[1]?.digest },
    ];
    expect(ended).toMatchObject([{ files: named }, { files: named }]);
    const files = named.map((file, index) => ({ type: "file", ...file, data: [PNG, PDF][index] }));
    expect(results.map((result) => result.files)).toEqual([files, files]);
    const again = emptyConversation(session.id);
    for (const event of events) reduce(again, event);
    expect(again.messages).toEqual(session.state.messages);
    expect(again.files).toEqual(session.state.files);
  });

  test("are of the kind that their bytes are", async () => {
    const { results } = await brought({ ...png, mediaType: "image/jpeg" });
    expect(results[0]?.files).toMatchObject([{ mediaType: "image/png" }]);
  });

  test.each<[string, BroughtBytes, RegExp]>([
    ["broken base 64", { ...png, data: "iVBOR*w0KGgo" }, /dot\.png cannot be shown: its bytes are no base 64\.$/],
    ["base 64 that is cut", { ...png, data: PNG.slice(0, -1) }, /its bytes are no base 64/],
    ["nothing", { ...png, data: "" }, /it is empty/],
    [
      "a picture that is none",
      { ...png, data: btoa("hello, world") },
      /its name says a PNG image, but its bytes are something else/,
    ],
    [
      "a PDF that is a text",
      { mediaType: "application/pdf", data: btoa("Dear all,") },
      /a PDF document, but its bytes are something else/,
    ],
    [
      "100 MiB",
      { ...png, data: "A".repeat(Math.ceil((100 * 1024 * 1024 * 4) / 3)) },
      /it has 100 MiB, and 3\.75 MiB is the most/,
    ],
  ])("are refused in a sentence: %s", async (_, file, why) => {
    const { results } = await brought(file);
    expect(results[0]).toMatchObject({ failed: true, output: expect.stringMatching(why) });
    expect(results[0]).not.toHaveProperty("files");
  });

  test("F47: that the model's provider never accepts fail their call with one sentence", async () => {
    const camera = tool("camera", (_, context: ToolContext) => {
      context.attach(png);
      return "seen";
    });
    const model = { ...scriptedModel([[call("camera")], "ok"]), pictureProblem: () => "it has 9 × 9 pixels" };
    const session = Session.inMemory();
    const items = await collect(new Agent({ model, tools: [camera] }).chat(say("Look."), { session }));
    const ended = items.filter(isEvent).find(({ type }) => type === "call.failed");
    expect(ended).toMatchObject({ output: expect.stringMatching(/dot\.png cannot be shown: it has 9 × 9 pixels\.$/) });
  });

  test("are at most 20 MiB at once before the model", async () => {
    const large: BroughtBytes = { mediaType: "audio/wav", name: "hum.wav", data: "AAAA".repeat((4 * 1024 * 1024) / 3) };
    const { results } = await brought(large, large, large);
    expect(results[0]).toMatchObject({ failed: false });
    expect(results[1]?.output).toMatch(
      /hum\.wav cannot be shown: with those before it there would be more than 20 MiB/,
    );
  });
});
