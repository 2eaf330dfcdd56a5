import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RepeatedDocuments } from "./repeated-documents.ts";

const chunk = (text: string, id = 1) =>
  JSON.stringify({ id, choices: [{ delta: { role: "assistant", content: text } }] });

/** A reader that has already read enough documents to learn. */
function longRead(): RepeatedDocuments {
  const repeated = new RepeatedDocuments();
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
    repeated.learn(document, text, say);
  }
  return { texts, parsed };
}

const textIn = (document: string): string => JSON.parse(document).choices[0].delta.content;

describe("documents that repeat but for one string", () => {
  test("are parsed until a second one has confirmed where the string stands", () => {
    const words = ["", "A", " banyan", " is", " a", " tree", "."];
    expect(readAll(words.map((word) => chunk(word)))).toEqual({ texts: words, parsed: 3 });
  });

  test("of a short answer are all parsed", () => {
    const repeated = new RepeatedDocuments();
    const learning = Array.from({ length: 20 }, () => {
      repeated.read("{}");
      return repeated.learns;
    });
    expect(learning.indexOf(true)).toBe(12);
  });

  test("say what parsing them says, whatever their strings are and whatever else changes", () => {
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

  test("are parsed when the string stands there twice, or is another one", () => {
    const twice = (word: string) => `{"copy":"${word}","choices":[{"delta":{"content":"${word}"}}]}`;
    expect(readAll(["a", "b", "c", "d"].map(twice)).parsed).toBe(4);
    const other = chunk("x").replace("assistant", "somebody");
    expect(readAll([chunk("a"), chunk("b"), other, chunk("c")]).parsed).toBe(4);
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

  test("are parsed where more stands between what repeats", () => {
    const more = chunk("x").replace('"x"', '"a","content":"c"');
    expect(readAll([chunk("a"), chunk("b"), more])).toEqual({ texts: ["a", "b", "c"], parsed: 3 });
  });

  test("the same word twice confirms nothing: it may stand anywhere", () => {
    const roles = (role: string) => `{"role":"${role}","choices":[{"delta":{"content":"user"}}]}`;
    const documents = [roles("user"), roles("user"), roles("tool")];
    expect(readAll(documents)).toEqual({ texts: ["user", "user", "user"], parsed: 3 });
  });

  test("a raw control character, which JSON does not allow, is left to the parser", () => {
    const repeated = longRead();
    const said: string[] = [];
    for (const word of ["a", "b"]) repeated.learn(chunk(word), word, (text) => said.push(text));
    expect(repeated.read(chunk("c"))).toBe(true);
    expect(repeated.read(chunk("X").replace("X", "\n"))).toBe(false);
    expect(said).toEqual(["c"]);
  });

  test("a series that never repeats is not learnt for ever", () => {
    const documents = Array.from({ length: 40 }, (_, index) => chunk(`word ${index}`, index < 20 ? index : 1));
    expect(readAll(documents)).toEqual({ texts: documents.map(textIn), parsed: 40 });
  });
});
