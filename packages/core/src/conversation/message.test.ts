import { expect, it } from "vitest";
import { type Message, noUsage, textOf, typedText } from "./index.ts";

const place = { id: "m1", parentId: null, createdAt: 0 };

it("a user's message of several texts is read as paragraphs", () => {
  const message: Message = {
    ...place,
    role: "user",
    author: "user",
    parts: [
      { type: "text", text: "Review this." },
      { type: "file", mediaType: "image/png", data: "aGk=" },
      { type: "text", text: "Standard input:" },
    ],
  };
  expect(textOf(message)).toBe("Review this.\n\nStandard input:");
  expect(typedText(message)).toBe("Review this.");
  expect(typedText({ ...message, author: "tool" })).toBe(textOf(message));
  expect(typedText({ ...message, parts: message.parts.slice(1) })).toBe("Standard input:");
});

it("an answer is read as one text with any number of parts", () => {
  const message: Message = {
    ...place,
    role: "assistant",
    run: "r1",
    model: "test/model",
    usage: noUsage,
    calls: [],
    parts: [
      { type: "text", text: "It is " },
      { type: "reasoning", text: "Is it?" },
      { type: "text", text: "done." },
    ],
  };
  expect(textOf(message)).toBe("It is done.");
});
