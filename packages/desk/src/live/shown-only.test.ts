import { Agent, type FeedItem, Session, say } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import type { ShareScope } from "../request/principal.ts";
import { itemInShare, stateInShare } from "./shown-only.ts";

test("S29, S31: a link shows the working folder of no call, in the feed and in the conversation", async () => {
  const session = Session.inMemory();
  const agent = new Agent({
    model: scriptedModel([[call("look", { at: "a.txt" })], "Done."]),
    tools: [
      {
        name: "look",
        description: "Looks.",
        input: { type: "object" },
        effects: "none",
        about: () => ({ title: "a file" }),
        folder: () => "/a/folder",
        execute: () => "seen",
      },
    ],
  });
  const items: FeedItem[] = [];
  for await (const item of agent.chat(say("Look."), { session })) items.push(item);
  expect(JSON.stringify(items)).toContain("/a/folder");
  const only: ShareScope = {
    conversation: session.id,
    expiresAt: Number.POSITIVE_INFINITY,
    ended: new AbortController().signal,
  };
  const shown = JSON.stringify([
    items.map((item) => itemInShare(item, only)),
    [...stateInShare(session.state, only).messages.values()],
  ]);
  expect(shown).not.toContain("/a/folder");
  expect(shown.match(/"title":"a file"/g)).toHaveLength(2);
});
