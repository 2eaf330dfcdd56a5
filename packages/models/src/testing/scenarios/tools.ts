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

/** Always fails. */
export const open = defineTool({
  name: "open",
  description: "Opens a thing.",
  input,
  effects: "external",
  execute: () => {
    throw new Error("the lid is stuck");
  },
});

/** Waits for the next message, and reports its length. */
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

/** An image of one pixel, and a document. */
export const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const PAPER = Buffer.from("%PDF-1.4\n1 0 obj <</Type/Catalog>> endobj\ntrailer <</Root 1 0 R>>\n").toString(
  "base64",
);

/** Attaches an image, a document and a sound. */
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

/** A call as the model writes it. */
export function calling(id: string, name: string, args: object | string) {
  return { id, name, arguments: typeof args === "string" ? args : JSON.stringify(args) };
}
