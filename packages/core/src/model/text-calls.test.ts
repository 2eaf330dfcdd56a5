import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TextCalls } from "./text-calls.ts";

const OFFERED = ["read", "search"];

/** Returns the text and the calls of content that arrives in these pieces. */
function read(pieces: readonly string[]) {
  const calls = new TextCalls(new Set(OFFERED));
  const text = pieces.map((piece) => calls.take(piece)).join("");
  const end = calls.end();
  return { text: text + end.text, calls: end.calls.map(({ tool, input }) => ({ tool, input: JSON.parse(input) })) };
}

function cut(text: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map((at) => at % (text.length + 1)).sort((a, b) => a - b), text.length];
  return places.slice(1).map((end, index) => text.slice(places[index], end));
}

const tagged = (value: unknown) => `<tool_call>\n${JSON.stringify(value)}\n</tool_call>`;
const call = { name: "read", arguments: { path: "a.txt" } };
const meant = { tool: "read", input: { path: "a.txt" } };

describe("F70: calls in the form of text", () => {
  test.each<[string, string, string, readonly object[]]>([
    ["a call alone", tagged(call), "", [meant]],
    ["behind words, on lines of its own", `I look.\n${tagged(call)}\n`, "I look.\n", [meant]],
    [
      "two calls",
      `${tagged(call)}\n${tagged({ name: "search", arguments: "{}" })}`,
      "",
      [meant, { tool: "search", input: {} }],
    ],
    ["without the last tag", `<tool_call>${JSON.stringify(call)}`, "", [meant]],
    ["a fence of JSON", `\`\`\`json\n${JSON.stringify(call)}\n\`\`\``, "", [meant]],
    ["a fence with a list", `\`\`\`\n${JSON.stringify([call, call])}\n\`\`\`\n`, "", [meant, meant]],
    [
      "with `parameters`, in a `function`",
      tagged({ function: { name: "read", parameters: { path: "a.txt" } } }),
      "",
      [meant],
    ],
    [
      "with a string that holds the closing tag of a fence",
      tagged({ name: "read", arguments: { path: "```" } }),
      "",
      [{ tool: "read", input: { path: "```" } }],
    ],
  ])("%s", (_, content, text, calls) => expect(read([content])).toEqual({ text, calls }));

  test.each([
    ["a tool that was not offered", tagged({ name: "rm", arguments: {} })],
    ["no arguments", tagged({ name: "read" })],
    ["words behind the call", `${tagged(call)}\nThat is how a call looks.`],
    ["on the line of other words", `Write ${tagged(call)}`],
    ["inside of a fence", `\`\`\`xml\n${tagged(call)}\n\`\`\``],
    ["no JSON", "<tool_call>read a.txt</tool_call>"],
    ["a fence of JSON behind words", `Such a file:\n\`\`\`json\n${JSON.stringify(call)}\n\`\`\``],
    ["a fence of other JSON", '```json\n{"name":"banyan","version":"1"}\n```'],
    ["a fence of code", "```ts\nconst a = 1;\n```"],
    ["one good call and one bad", `${tagged(call)}\n${tagged({ name: "rm", arguments: {} })}`],
  ])("%s stays text", (_, content) => expect(read([content])).toEqual({ text: content, calls: [] }));

  const cuts = fc.array(fc.nat(), { maxLength: 10 });
  const input = fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.oneof(fc.string(), fc.integer()), { maxKeys: 3 });
  const wanted = fc.record({ name: fc.constantFrom(...OFFERED), arguments: input });
  const narration = fc.constantFrom("", "I look into it.\n", "First this.\n\n  ", "a < b\n");

  test("are read wherever the content is cut", () => {
    fc.assert(
      fc.property(
        narration,
        fc.array(wanted, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        cuts,
        (words, list, isFence, cuts) => {
          fc.pre(!list.some((one) => /<\/?tool_call>/.test(JSON.stringify(one))));
          const json = JSON.stringify(list.length === 1 ? list[0] : list);
          const content = isFence && words === "" ? `\`\`\`json\n${json}\n\`\`\`` : words + list.map(tagged).join("\n");
          fc.pre(!(content.startsWith("```") && json.includes("```")));
          expect(read(cut(content, cuts))).toEqual({
            text: words,
            calls: list.map((one) => ({ tool: one.name, input: JSON.parse(JSON.stringify(one.arguments)) })),
          });
        },
      ),
      { numRuns: 300 },
    );
  });

  test("500 texts that mention <tool_call> in prose lead to 0 calls, and lose no character", () => {
    const mention = fc.constantFrom(
      "<tool_call>",
      "`<tool_call>`",
      "</tool_call>",
      `<tool_call>${JSON.stringify(call)}</tool_call>`,
      `\n<tool_call>\n${JSON.stringify(call)}\n</tool_call>\n`,
      `\`\`\`json\n${JSON.stringify(call)}\n\`\`\``,
      "\n<tool_call>\n",
    );
    const words = fc.constantFrom(
      "The model writes ",
      "so that ",
      "\n\nthen ",
      "it calls the tool. ",
      "> quoted ",
      "- ",
    );
    const sentence = fc.tuple(words, mention, words).map((pieces) => pieces.join(""));
    const end = fc.constantFrom("That is all.", "and so on", "`", "done");
    let texts = 0;
    fc.assert(
      fc.property(fc.array(sentence, { minLength: 1, maxLength: 5 }), end, cuts, (sentences, end, cuts) => {
        texts++;
        const content = sentences.join("") + end;
        expect(read(cut(content, cuts))).toEqual({ text: content, calls: [] });
      }),
      { numRuns: 500 },
    );
    expect(texts).toBe(500);
  });
});
