// AI SDK: a test that replays a recorded model offline.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";

interface Recording {
  readonly request: unknown;
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Replays the requests of a file in order, or records them with the environment variable RECORD. */
function recorded(file: string): typeof fetch {
  const recordings: Recording[] = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
  let next = 0;
  return async (address, init) => {
    const request = JSON.parse(String(init?.body));
    if (process.env.RECORD) {
      const answer = await fetch(address, init);
      const type = answer.headers.get("content-type") ?? "";
      recordings[next++] = { request, status: answer.status, type, body: await answer.text() };
      writeFileSync(file, JSON.stringify(recordings, null, 2));
    }
    const recording = recordings[process.env.RECORD ? next - 1 : next++];
    expect(request).toEqual(recording?.request);
    return new Response(recording?.body ?? null, {
      status: recording?.status ?? 500,
      headers: { "content-type": recording?.type ?? "" },
    });
  };
}

const forecast = tool({
  description: "Returns tomorrow's weather.",
  inputSchema: z.object({ city: z.string() }),
  execute: () => "rain",
});

test("the agent looks at the forecast before it answers", async () => {
  const openai = createOpenAI({ apiKey: process.env.OPENAI_API_KEY ?? "none", fetch: recorded("forecast.json") });
  const { text } = await generateText({
    model: openai("gpt-5-mini"),
    tools: { forecast },
    prompt: "Do I need an umbrella in Oslo tomorrow?",
    stopWhen: isStepCount(50),
  });
  expect(text).toContain("umbrella");
});
