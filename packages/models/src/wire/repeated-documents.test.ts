import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RepeatedDocuments } from "./repeated-documents.ts";

const chunk = (text: string, id = 1) =>
  JSON.stringify({ id, choices: [{ delta: { role: "assistant", content: text } }] });

const MEANINGFUL = new Set(["choices", "delta", "content", "role"]);

/** A reader that has already read enough documents to learn. */
function longRead(): RepeatedDocuments {
  const repeated = new RepeatedDocuments(MEANINGFUL);
  while (!repeated.learns) repeated.read("{}");
  return repeated;
}

/** Reads the documents as a decoder does. Returns the text of each, and the number of parsed documents. */
function readAll(documents: readonly string[]): { texts: string[]; parsed: number } {
  const repeated = longRead();
  let parsed = 0;
  const texts: string[] = [];
  const say = (text: string) => texts.push(text);
  for (const document of documents) {
    if (repeated.read(document)) continue;
    parsed++;
    const text = textIn(document);
    say(text);
    const chunk = JSON.parse(document);
    repeated.learn(document, text, say, chunk, chunk.choices[0], chunk.choices[0].delta);
  }
  return { texts, parsed };
}

const textIn = (document: string): string => JSON.parse(document).choices[0].delta.content;

describe("documents that repeat but for one string", () => {
  test("are parsed until a second document confirms the place of the string", () => {
    const words = ["", "A", " banyan", " is", " a", " tree", "."];
    expect(readAll(words.map((word) => chunk(word)))).toEqual({ texts: words, parsed: 3 });
  });

  test("of a short answer are all parsed", () => {
    const repeated = new RepeatedDocuments(MEANINGFUL);
    const learning = Array.from({ length: 20 }, () => {
      repeated.read("{}");
      return repeated.learns;
    });
    expect(learning.indexOf(true)).toBe(12);
  });

  test("equal the parsed documents, whatever their strings and other changes", () => {
    const text = fc.oneof(
      fc.constantFrom("", '"', "\\", "\n", "a", "assistant", "content", "{}"),
      fc.string({ unit: "binary" }),
    );
    const document = fc.tuple(text, fc.constantFrom(1, 1, 1, 2)).map(([word, id]) => chunk(word, id));
    fc.assert(
      fc.property(fc.array(document, { maxLength: 40 }), (documents) => {
        expect(readAll(documents).texts).toEqual(documents.map(textIn));
      }),
    );
  });

  test("are parsed if the string occurs twice, or is another string", () => {
    const twice = (word: string) => `{"copy":"${word}","choices":[{"delta":{"content":"${word}"}}]}`;
    expect(readAll(["a", "b", "c", "d"].map(twice)).parsed).toBe(4);
    const other = chunk("x").replace("assistant", "somebody");
    expect(readAll([chunk("a"), chunk("b"), other, chunk("c")]).parsed).toBe(3);
  });

  test("are learnt by strings with escapes as well: the arguments of a call are full of them", () => {
    const words = ['{"', "path", '":"', "notes.md", '"}'];
    expect(readAll(words.map((word) => chunk(word)))).toEqual({ texts: words, parsed: 2 });
  });

  test("are not parsed for a string that is written with escapes", () => {
    const escaped = chunk("x").replace('"x"', '"\\u0041\\n\\""');
    const documents = [chunk("a"), chunk("b"), escaped, chunk("c")];
    expect(readAll(documents)).toEqual({ texts: ["a", "b", 'A\n"', "c"], parsed: 2 });
  });

  test("are parsed if more text occurs between the repeated parts", () => {
    const more = chunk("x").replace('"x"', '"a","content":"c"');
    expect(readAll([chunk("a"), chunk("b"), more])).toEqual({ texts: ["a", "b", "c"], parsed: 3 });
  });

  test("the same word twice confirms nothing: its place is unknown", () => {
    const roles = (role: string) => `{"role":"${role}","choices":[{"delta":{"content":"user"}}]}`;
    const documents = [roles("user"), roles("user"), roles("tool")];
    expect(readAll(documents)).toEqual({ texts: ["user", "user", "user"], parsed: 3 });
  });

  test("the parser reads a raw control character, which JSON forbids", () => {
    const repeated = longRead();
    const said: string[] = [];
    for (const word of ["a", "b"]) repeated.learn(chunk(word), word, (text) => said.push(text));
    expect(repeated.read(chunk("c"))).toBe(true);
    expect(repeated.read(chunk("X").replace("X", "\n"))).toBe(false);
    expect(said).toEqual(["c"]);
  });

  test("a series that never repeats stops the learning", () => {
    const odd = (index: number) => chunk(`word ${index}`).replace('"id":1', `"id":[${index < 20 ? index : 1}]`);
    const documents = Array.from({ length: 40 }, (_, index) => odd(index));
    expect(readAll(documents)).toEqual({ texts: documents.map(textIn), parsed: 40 });
  });

  describe("other fields that change", () => {
    const padded = (padding: string, text: string) => chunk(text).replace(/}$/, `,"obfuscation":"${padding}"}`);
    const words = ["A", " banyan", " is", " a", " tree", "."];

    test("V6: are parsed twice with any random padding", () => {
      const documents = words.map((word, index) => padded("xQ7b3".slice(0, index), word));
      expect(readAll(documents)).toEqual({ texts: words, parsed: 2 });
    });

    test("V6: are parsed twice if a number, a string before the text and a field beside the text change", () => {
      const at = (word: string, index: number) =>
        `{"seq": ${index * 9}, "id": "c${index}", "choices": [{"t":${index / 4},"delta":{"p":"${index}","content":"${word}"}}]}`;
      expect(readAll(words.map(at))).toEqual({ texts: words, parsed: 2 });
    });

    test("V6: are parsed if a field is neither a string nor a number, or if the JSON is wrong", () => {
      const learnt = [padded("ab", "A"), padded("cd", "B")];
      for (const odd of ['"x":1', "null", "[1]", '"a\\"', '"a"b"']) {
        const document = padded("ef", "C").replace('"ef"', odd);
        const repeated = longRead();
        for (const known of learnt) repeated.learn(known, textIn(known), () => {}, JSON.parse(known));
        expect(repeated.read(padded("gh", "C"))).toBe(true);
        expect(repeated.read(document), document).toBe(false);
      }
    });

    test("V6: are parsed if a meaningful field changes", () => {
      const models = words.map((word, index) => chunk(word).replace("assistant", `assistant ${index}`));
      expect(readAll(models)).toEqual({ texts: words, parsed: words.length });
    });
  });
});
