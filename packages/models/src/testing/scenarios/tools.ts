import { defineTool, textOf } from "@banyan/core";

const input = { type: "object", properties: { at: { type: "string" } }, required: ["at"] } as const;

/** Answers at once. */
export const look = defineTool({
  name: "look",
  description: "Looks at a thing.",
  input,
  effects: "none",
  execute: (asked) => `seen: ${(asked as { at: string }).at}`,
});

/** Fails always. */
export const open = defineTool({
  name: "open",
  description: "Opens a thing.",
  input,
  effects: "external",
  execute: () => {
    throw new Error("the lid is stuck");
  },
});

/** Listens to the next message, and says how long that was. */
export const listen = defineTool({
  name: "listen",
  description: "Listens to your next message.",
  input: { type: "object" },
  effects: "none",
  execute: (_: unknown, context) => {
    context.follow({ completed: (message) => ({ say: `Heard ${textOf(message).length} letters.` }) });
    return "Listening.";
  },
});

/** A picture of one dot, and a document. */
export const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const PAPER = Buffer.from("%PDF-1.4\n1 0 obj <</Type/Catalog>> endobj\ntrailer <</Root 1 0 R>>\n").toString(
  "base64",
);

/** Brings a picture, a document and a sound. */
export const scan = defineTool({
  name: "scan",
  description: "Scans a thing.",
  input: { type: "object" },
  effects: "none",
  execute: (_: unknown, { attach }) => {
    attach({ mediaType: "image/png", name: "dot.png", data: DOT });
    attach({ mediaType: "application/pdf", name: "paper.pdf", data: PAPER });
    attach({ mediaType: "application/x-none", name: "hum", data: "AAAA" });
    return "scanned";
  },
});

/** What a model writes to call a tool. */
export function calling(id: string, name: string, args: object | string) {
  return { id, name, arguments: typeof args === "string" ? args : JSON.stringify(args) };
}
