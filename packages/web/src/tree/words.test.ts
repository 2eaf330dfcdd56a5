import type { ConversationState } from "@banyan/core/conversation";
import { expect, it } from "vitest";
import type { LiveConversation } from "../conversation/live-conversation.ts";
import { beginningOf } from "./words.ts";

const said = (text: string) => ({ parts: text === "" ? [] : [{ type: "text", text }] });
const assistant = (text: string, ...tools: readonly string[]) => ({
  role: "assistant",
  ...said(text),
  calls: tools.map((tool) => ({ tool })),
});

/** What a message is called; of one that was not read only the outline is known. */
const named = (message: object, unread?: { readonly words?: string; readonly calls?: number }) =>
  beginningOf(
    { outline: () => unread } as unknown as LiveConversation,
    { messages: new Map([["m", message]]) } as unknown as ConversationState,
    "m",
  );

it("W69: a message is called by how it begins; where it says nothing, by what it calls", () => {
  expect(named(assistant("I look\n at  it.", "read"))).toBe("I look at it.");
  expect(named(assistant("", "read", "search", "read"))).toBe("(read, search)");
  expect(named(assistant(""), { calls: 2 })).toBe("(2 calls)");
  expect(named(assistant(""))).toBe("(no text)");
  expect(named({ role: "user", ...said("") })).toBe("(no text)");
});

it("W69: stars around what a model wrote in strong words are left out; those that multiply are not, nor a person's", () => {
  expect(named(assistant("The **server's** day, and **where**."))).toBe("The server's day, and where.");
  expect(named(assistant("2**3 and 4**5"))).toBe("2**3 and 4**5");
  expect(named(assistant(""), { words: "All **done**" })).toBe("All done");
  expect(named({ role: "user", ...said("Why **not**?") })).toBe("Why **not**?");
});
