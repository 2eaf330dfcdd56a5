import { expect, test } from "vitest";
import type { UserPart } from "../part.ts";
import { readUserContent, type UserContent } from "./user-content.ts";

const PNG = Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUg=="), (character) => character.charCodeAt(0));
const DATA = "iVBORw0KGgoAAAANSUhEUg==";
const picture: UserPart = { type: "file", mediaType: "image/png", data: DATA };
const web = "https://example.org/oak.png";
const seen: UserPart = { type: "file", mediaType: "image/*", url: web };

test.each<[string, unknown, UserPart]>([
  ["a Buffer", { type: "file", mediaType: "image/png", data: Buffer.from(PNG) }, picture],
  [
    "a Uint8Array of a larger buffer",
    { type: "image", image: new Uint8Array([0, ...PNG, 0]).subarray(1, -1) },
    picture,
  ],
  ["an ArrayBuffer", { type: "image", image: PNG.buffer, mediaType: "image/png" }, picture],
  ["an image in base 64 (AI SDK)", { type: "image", image: DATA }, picture],
  ["an image as a data URL (AI SDK)", { type: "image", image: `data:image/png;base64,${DATA}` }, picture],
  ["an image at an address (AI SDK)", { type: "image", image: web }, seen],
  ["an image at a URL (AI SDK)", { type: "image", image: new URL(web) }, seen],
  [
    "a file (AI SDK)",
    { type: "file", data: PNG, mediaType: "image/png", filename: "oak.png" },
    { ...picture, name: "oak.png" },
  ],
  ["tagged data (AI SDK)", { type: "file", data: { type: "data", data: PNG }, mediaType: "image" }, picture],
  ["a tagged address (AI SDK)", { type: "file", data: { type: "url", url: new URL(web) }, mediaType: "image" }, seen],
  [
    "a file of useChat",
    { type: "file", mediaType: "image/png", filename: "oak.png", url: `data:image/png;base64,${DATA}` },
    { ...picture, name: "oak.png" },
  ],
  ["a text of useChat", { type: "text", text: "Hi", state: "done" }, { type: "text", text: "Hi" }],
  ["input_text (OpenAI)", { type: "input_text", text: "Hi" }, { type: "text", text: "Hi" }],
  ["image_url (OpenAI)", { type: "image_url", image_url: { url: web, detail: "auto" } }, seen],
  ["input_image (OpenAI)", { type: "input_image", image_url: `data:image/png;base64,${DATA}` }, picture],
  [
    "a file (OpenAI)",
    { type: "file", file: { file_data: "data:application/pdf;base64,JVBERi0xLjc=", filename: "oak.pdf" } },
    { type: "file", mediaType: "application/pdf", name: "oak.pdf", data: "JVBERi0xLjc=" },
  ],
  [
    "input_file with data (OpenAI)",
    { type: "input_file", file_data: "data:application/pdf;base64,JVBERi0xLjc=", filename: "oak.pdf" },
    { type: "file", mediaType: "application/pdf", name: "oak.pdf", data: "JVBERi0xLjc=" },
  ],
  [
    "input_file at an address (OpenAI)",
    { type: "input_file", file_url: "https://example.com/oak.pdf" },
    { type: "file", mediaType: "application/pdf", url: "https://example.com/oak.pdf" },
  ],
  [
    "a text document (Anthropic)",
    { type: "document", source: { type: "text", media_type: "text/plain", data: "é" }, title: "oak.txt" },
    { type: "file", mediaType: "text/plain", name: "oak.txt", data: "w6k=" },
  ],
  [
    "tagged text (AI SDK)",
    { type: "file", data: { type: "text", text: "é" }, mediaType: "text/plain" },
    { type: "file", mediaType: "text/plain", data: "w6k=" },
  ],
  [
    "an image in base 64 (Anthropic)",
    { type: "image", source: { type: "base64", media_type: "image/png", data: DATA } },
    picture,
  ],
  ["an image at an address (Anthropic)", { type: "image", source: { type: "url", url: web } }, seen],
  [
    "a text for one provider",
    { type: "text", text: "Hi", provider: { a: { b: 1 } } },
    { type: "text", text: "Hi", provider: { a: { b: 1 } } },
  ],
])("F75: %s maps without loss", (_, part, own) => {
  expect(readUserContent([part] as UserContent)).toEqual([own]);
  expect(readUserContent({ role: "user", content: [part as object] })).toEqual([own]);
  expect(readUserContent({ id: "m1", role: "user", parts: [part as object] } as UserContent)).toEqual([own]);
});

test("F75: a message has its text, and an empty message is no message", () => {
  expect(readUserContent({ role: "user", content: "Hi" })).toEqual([{ type: "text", text: "Hi" }]);
  for (const nothing of ["", " \n", [], [{ type: "text", text: " " }], { role: "user", content: "" }])
    expect(readUserContent(nothing as UserContent)).toBeUndefined();
});

const text = { type: "text", text: "Look." } as const;

test.each<[unknown, string]>([
  [[text, { type: "text", text: 5 }], "parts[1].text must be a string, not a number."],
  [[text, { type: "text" }], "parts[1].text must be a string, not undefined."],
  [[text, "Hi"], "parts[1] must be a part with a type, not a string."],
  // biome-ignore lint/suspicious/noSparseArray: a program may have one.
  [[, text], "parts[0] must be a part with a type, not undefined."],
  [[{ type: "txt", text: "Hi" }], 'parts[0].type is "txt"; did you mean text?'],
  [
    [{ type: "tool-result", toolCallId: "c" }],
    'parts[0].type is "tool-result"; a user message holds parts of type "text" and "file".',
  ],
  [[{ role: "user", content: "Hi" }], "parts[0] is a message, not a part; pass one message, or the parts of one."],
  [[{ ...text, txet: 1 }], "parts[0].txet is not a field of a user message; did you mean parts[0].text?"],
  [
    [{ ...text, cache_control: { type: "ephemeral" } }],
    "parts[0].cache_control is not a field of a user message; the session would lose this field, so leave it out.",
  ],
  [
    [{ ...text, providerOptions: {} }],
    "parts[0].providerOptions is not a field of a user message; leave it out, or set providerOptions in the agent's settings.",
  ],
  [[{ ...text, provider: "a" }], "parts[0].provider must be an object, not a string."],
  [[{ ...text, provider: { a: { b: 1n } } }], "parts[0].provider has a value that JSON cannot represent."],
  [
    [{ type: "file", mediaType: "image/png" }],
    "parts[0] has neither data nor url; pass its bytes as data, or its address as url.",
  ],
  [
    [{ type: "file", mediaType: "image/png", data: DATA, url: web }],
    "parts[0].data and parts[0].url are both set; pass only one of the two.",
  ],
  [[{ type: "file", data: DATA }], "parts[0].mediaType must be a string, not undefined."],
  [
    [{ type: "file", mediaType: "png", data: DATA }],
    'parts[0].mediaType must have the form type/subtype, such as image/png, not "png".',
  ],
  [
    [{ type: "file", mediaType: "image/png", data: "not base 64" }],
    "parts[0].data must be base 64 without line breaks; pass the bytes as a Buffer or a Uint8Array to have them encoded.",
  ],
  [[{ type: "file", mediaType: "image/png", data: "" }], "parts[0].data is empty; leave the file out."],
  [
    [{ type: "file", mediaType: "image/png", data: Buffer.from(PNG).toJSON() }],
    "parts[0].data is a Buffer written as JSON; pass the Buffer itself, or base 64.",
  ],
  [
    [{ type: "file", mediaType: "image/png", data: { type: "reference", reference: {} } }],
    "parts[0].data must be base 64, bytes or an address, not an object.",
  ],
  [
    [{ type: "file", mediaType: "image/png", url: "/tmp/a.png" }],
    "parts[0].url must be an address of http or https, or a data: URL with base 64; pass a local file as data.",
  ],
  [
    [{ type: "image", image: "data:image/svg+xml,<svg/>" }],
    "parts[0].image is a data: URL that is not in base 64; write it as data:image/png;base64,... instead.",
  ],
  [
    [{ type: "file", mediaType: "a/b", data: DATA, name: "a".repeat(1001) }],
    "parts[0].name must have at most 1,000 characters.",
  ],
  [
    [{ type: "image_url", image_url: { url: web, detail: "high" } }],
    'parts[0].image_url.detail must be "auto", not "high"; leave it out.',
  ],
  [
    [{ type: "file", file: { file_id: "f1" } }],
    "parts[0].file.file_id is not a field of a user message; the session would lose this field, so leave it out.",
  ],
  [
    [{ type: "file", file: { file_data: "AAAA" } }],
    "parts[0].file.file_data has no media type; write it as data:application/pdf;base64,... instead.",
  ],
  [
    [{ type: "image", source: { type: "file", url: web } }],
    'parts[0].source.type must be "base64", "text" or "url", not "file".',
  ],
  [{ role: "user", content: [{ type: "text", text: null }] }, "content[0].text must be a string, not null."],
  [
    { role: "assistant", content: "Hi" },
    'role must be "user", not "assistant"; the session keeps the other messages, so pass only the new message.',
  ],
  [{ role: "user" }, "content must be a string or an array of parts, not undefined."],
  [{ role: "user", content: "a", parts: [] }, "content and parts are both set; pass only one of the two."],
  [
    { role: "user", content: "Hi", metadata: {} },
    "metadata is not a field of a user message; the session would lose this field, so leave it out.",
  ],
  [text, 'A message must be a string, an array of parts, or { role: "user", content }; put one part into an array.'],
  [5, 'A message must be a string, an array of parts, or { role: "user", content }, not a number.'],
  [undefined, 'A message must be a string, an array of parts, or { role: "user", content }, not undefined.'],
])("F75: content of another shape, case %#, is refused with the field and a remedy", (content, message) => {
  const refused = expect.objectContaining({ name: "DirectiveError", code: "malformed", message });
  expect(() => readUserContent(content as UserContent)).toThrow(refused);
});

test("F75: 20 MB are read, as bytes and as base 64, and a wrong character at the end is found", () => {
  const bytes = new Uint8Array(15 * 1024 * 1024 + 1).fill(7);
  const part = { type: "file", mediaType: "application/zip", data: bytes } as const;
  const [read] = readUserContent([part]) ?? [];
  const data = read?.type === "file" ? (read.data ?? "") : "";
  expect(Buffer.from(data, "base64").equals(bytes)).toBe(true);
  expect(readUserContent([{ ...part, data }])).toEqual([{ ...part, data }]);
  expect(() => readUserContent([{ ...part, data: `${data.slice(0, -5)}*${data.slice(-4)}` }])).toThrow(
    /must be base 64/,
  );
});
