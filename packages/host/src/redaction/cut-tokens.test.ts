import { Agent, Session, say, type Tool } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { redactedTools } from "./redacted-tools.ts";
import { redactor } from "./redactor.ts";
import { secrets, toldOf } from "./secrets.fixture.ts";

// For any split of a program's output, no part of a secret of any form leaks on any of a tool's ways to output text.

const kinds = Object.keys(secrets());
const tries = process.env.BANYAN_LONG === "1" ? 100 : 3;
const before = fc.constantFrom(
  "",
  " ",
  "\n",
  "a line\n",
  "in=",
  '"',
  "x: ",
  "\t",
  "> ",
  "é",
  "\\r\\n",
  "%0A",
  "\\u000a",
  "\u001b[1m",
);
const behind = fc.constantFrom("", " ", "\n", "\r\n", '"', ", ", "\t", "\\n", "\u{1f511} ");

/** A text with a secret of a kind, and the places to cut it. */
const cut = (kind: string) =>
  fc
    .tuple(fc.nat(), before, behind, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }))
    .map(([choice, first, last, places]) => {
      const samples = secrets()[kind] ?? [];
      const secret = samples[choice % samples.length] ?? "";
      const text = `one ${first}${secret}${last && `${last} two`}\n`;
      const ends = [...places.map((place) => Math.floor(place * text.length)).sort((a, b) => a - b), text.length];
      return { secret, text, pieces: ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end)) };
    });

test.each(kinds)("S10, S22: a secret of the kind %s is told by no way, wherever its text is cut", async (kind) => {
  await fc.assert(
    fc.asyncProperty(cut(kind), async ({ secret, text, pieces }) => {
      const redact = redactor({ env: {} });
      const tool = (name: string, execute: Tool["execute"]): Tool => ({
        name,
        description: "",
        input: { type: "object" },
        effects: "none",
        execute,
      });
      const tools = [
        tool("result", () => text),
        tool("lines", () =>
          text
            .split("\n")
            .map((line, index) => `${index + 1}:${line}`)
            .join("\n"),
        ),
        tool("values", () => ({ said: [text] })),
        tool("progress", (_, { progress }) => {
          for (const piece of pieces) progress(piece);
          return "done";
        }),
        tool("failure", () => {
          throw new Error(text);
        }),
        tool("words", async (_, { interject }) => {
          await interject(text);
          return "done";
        }),
      ];
      const model = scriptedModel([tools.map(({ name }) => call(name, {})), "done"]);
      const told: unknown[] = [model.requests];
      const shown: string[] = [];
      const agent = new Agent({ model, tools: redactedTools(tools, redact) });
      for await (const item of agent.chat(say("go"), { session: Session.inMemory() })) {
        told.push(item);
        if (item.type === "call.output.delta") shown.push(item.text);
      }
      expect([text, toldOf(secret.replaceAll("\\n", "\n"), JSON.stringify(told))]).toEqual([text, undefined]);
      expect(shown.join("")).toBe(redact(text));
    }),
    { numRuns: tries },
  );
});
