import { expect, test } from "vitest";
import { mcpResultText } from "./output.ts";

const text = (said: string) => ({ type: "text", text: said }) as const;

test.each([
  [[], { a: 1 }, '{"a":1}'],
  [[text('{ "a": [1, "two\\nlines"] }')], { a: [1, "two\nlines"] }, '{ "a": [1, "two\\nlines"] }'],
  [[text("one\ntwo\n")], { content: "one\ntwo\n" }, "one\ntwo\n"],
  [[text("Found 2.")], { names: ["Ann", "Bob"] }, 'Found 2.\n{"names":["Ann","Bob"]}'],
  [[text("Nothing.")], {}, "Nothing.\n{}"],
  [[text("Ann"), text("Bob")], { names: ["Ann", "Bob"] }, "Ann\nBob"],
])("B47: the model gets each content of %j with %j once", (content, structuredContent, told) => {
  expect(mcpResultText("it", { content, structuredContent })).toBe(told);
});

test("S12: control sequences of a server stay away from the model and the terminal", () => {
  expect(mcpResultText("it", { content: [text("\x1b]0;title\x07\x1b[31mred\x1b[0m\r\nnext")] })).toBe("red\nnext");
});

test("B47: words replace content that is no text", () => {
  const data = Buffer.from("four").toString("base64");
  const content = [
    { type: "audio", mimeType: "audio/wav", data },
    { type: "resource_link", uri: "a://b", name: "notes", mimeType: "text/plain", description: "Mine" },
    { type: "resource", resource: { uri: "a://c", text: "content" } },
    { type: "resource", resource: { uri: "a://d", blob: data } },
  ] as const;
  expect(mcpResultText("it", { content: [...content] }).split("\n")).toEqual([
    "[audio, audio/wav, 4 bytes: it cannot be shown here]",
    '[resource "notes" at @it:a://b, text/plain, Mine]',
    "[resource @it:a://c]",
    "content",
    "[resource @it:a://d, application/octet-stream, 4 bytes: it cannot be shown here]",
  ]);
});

test("C4: pictures, sound and embedded files are shown if possible and named on a line; a note gives the reason for the others", () => {
  const data = Buffer.from("four").toString("base64");
  const attached: unknown[] = [];
  const attach = (file: { readonly mediaType: string }) => {
    if (file.mediaType === "image/png") throw new RangeError("image/png cannot be shown: its bytes are no base 64.");
    attached.push(file);
  };
  const content = [
    { type: "image", mimeType: "image/png", data },
    { type: "audio", mimeType: "audio/wav", data },
    { type: "resource", resource: { uri: "a://d", mimeType: "application/pdf", blob: data } },
    { type: "resource", resource: { uri: "a://e", mimeType: "text/csv", blob: data } },
  ] as const;
  expect(mcpResultText("it", { content: [...content] }, attach).split("\n")).toEqual([
    "[image, image/png, 4 bytes: image/png cannot be shown: its bytes are no base 64.]",
    "[audio, audio/wav, 4 bytes]",
    "[resource @it:a://d, application/pdf, 4 bytes]",
    "[resource @it:a://e]",
    "four",
  ]);
  expect(attached).toEqual([
    { mediaType: "audio/wav", data },
    { mediaType: "application/pdf", name: "a://d", data },
  ]);
});
