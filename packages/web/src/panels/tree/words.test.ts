import type { ConversationState } from "@banyan/core/conversation";
import { describe, expect, it } from "vitest";
import type { PageConversation } from "../../parts/conversation/live-conversation.ts";
import { branchTitle, messageBeginning } from "./words.ts";

const said = (text: string) => ({ parts: text === "" ? [] : [{ type: "text", text }] });
const assistant = (text: string, ...tools: readonly string[]) => ({
  role: "assistant",
  ...said(text),
  calls: tools.map((tool) => ({ tool })),
});

/** The name of a message; an unread one has only its outline. */
const named = (message: object, unread?: { readonly words?: string; readonly calls?: number }) =>
  messageBeginning(
    { outline: () => unread } as unknown as PageConversation,
    { messages: new Map([["m", message]]) } as unknown as ConversationState,
    "m",
  );

it("W69: a message has the name of its first words, or without text of its calls", () => {
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

describe("names of branches from the same message", () => {
  /** A tree of branches below a root, each with its messages in order: `system:`, `user:`, or the answering model. */
  const treeOf = (branches: readonly (readonly string[])[]) => {
    const messages = new Map<string, object>([["root", { id: "root", parentId: null, ...assistant("Hello.") }]]);
    const children = new Map<string | null, string[]>([[null, ["root"]]]);
    for (const [branch, said_] of branches.entries())
      for (const [place, line] of said_.entries()) {
        const [, who = "", words = ""] = /^([^:]+): (.*)$/.exec(line) ?? [];
        const id = `${branch}-${place}`;
        const parentId = place === 0 ? "root" : `${branch}-${place - 1}`;
        const isUser = who === "system" || who === "user";
        messages.set(id, {
          id,
          parentId,
          ...(isUser ? { role: "user", author: who, ...said(words) } : { ...assistant(words), model: who }),
        });
        children.set(parentId, [...(children.get(parentId) ?? []), id]);
      }
    return { messages, children } as unknown as ConversationState;
  };
  const namesOf = (...branches: readonly (readonly string[])[]) => {
    const tree = treeOf(branches);
    const conversation = { outline: () => undefined } as unknown as PageConversation;
    return branches.map((_, branch) => branchTitle(conversation, tree, `${branch}-0`));
  };

  it("W90: different questions name their branches", () => {
    expect(namesOf(["user: Find the bug", "a/x: It is here."], ["user: Find the test", "a/x: It is there."])).toEqual([
      "Find the bug",
      "Find the test",
    ]);
  });

  it("W90: the model names a branch where the same was asked; a number, where the model is the same too", () => {
    const asked = "user: Find the bug";
    expect(namesOf([asked, "a/x: It is here."], [asked, "b/y: It is there."])).toEqual([
      "a/x · Find the bug",
      "b/y · Find the bug",
    ]);
    expect(namesOf([asked, "a/x: Here."], [asked, "a/x: There."], [asked, "b/y: Nowhere."], [asked])).toEqual([
      "a/x (1) · Find the bug",
      "a/x (2) · Find the bug",
      "b/y · Find the bug",
      "Find the bug",
    ]);
  });

  it("W90: no name is taken from the program's own messages, as from that about a git worktree", () => {
    const place = "system: This branch works in a git worktree of its own";
    expect(
      namesOf(
        [`${place}, x.`, "user: Find the bug", "a/x: Here."],
        [`${place}, y.`, "user: Find the bug", "b/y: There."],
        [`${place}, z.`, "user: Find the test", "b/y: There."],
        [`${place}, w.`],
      ),
    ).toEqual(["a/x · Find the bug", "b/y · Find the bug", "Find the test", "(no text)"]);
  });
});
