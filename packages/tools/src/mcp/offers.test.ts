import type { ContentBlock } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { promptParts } from "./offers.ts";

const base64 = (text: string) => Buffer.from(text, "latin1").toString("base64");
const PNG = base64("\x89PNG\r\n\x1a\nand more");
const SVG = base64(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`);

function said(...content: readonly ContentBlock[]) {
  return promptParts("it", { messages: content.map((content) => ({ role: "user", content })) });
}

test("B47: a prompt's content has the type of its bytes", () => {
  const resource = {
    type: "resource",
    resource: { uri: "doc:one", mimeType: "application/pdf", blob: base64("%PDF-1.7") },
  };
  expect(said({ type: "image", mimeType: "image/jpeg", data: PNG }, resource as ContentBlock)).toEqual([
    { type: "file", mediaType: "image/png", data: PNG },
    { type: "file", mediaType: "application/pdf", name: "doc:one", data: base64("%PDF-1.7") },
  ]);
});

test.each([
  ["SVG", "image/svg+xml", SVG, `image/svg+xml, ${atob(SVG).length} bytes: models do not look at such pictures`],
  ["SVG that is called PNG", "image/png", SVG, "its name says a PNG image, but its bytes are something else"],
  ["HTML as a picture of no known kind", "image/x", base64("<!doctype html>"), "models do not look at such pictures"],
  ["what is no base 64", "image/png", "<script>", "its bytes are no base 64"],
  ["nothing", "image/png", "", "it is empty"],
  ["a picture that no provider takes", "image/png", PNG + "A".repeat(8 * 1024 * 1024), "3.75 MiB is the most"],
])(
  "S12: text replaces %s as a picture of a prompt, so that no provider refuses the conversation",
  (_, mimeType, data, why) => {
    const [part, ...others] = said({ type: "image", mimeType, data });
    expect([part, others]).toEqual([{ type: "text", text: expect.stringContaining(why) }, []]);
  },
);

test("S12: text files of a prompt become text without control characters", () => {
  const resource = { uri: "page:one", mimeType: "text/html", blob: base64("<b>bold\x1b[2J</b>") };
  expect(said({ type: "resource", resource })).toEqual([
    { type: "text", text: "[resource @it:page:one]\n<b>bold</b>" },
  ]);
});
