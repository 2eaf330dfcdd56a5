import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Client, conversationPages } from "@banyan/client";
import { scriptedModel } from "@banyan/core/testing";
import type { ListedConversation, ServerFrame } from "@banyan/protocol";
import { sqliteStore } from "@banyan/store/sqlite";
import { countAccesses, manyConversations, numberedId } from "@banyan/store/testing";
import { expect, onTestFinished, test } from "vitest";
import { Desk } from "../desk.ts";
import { hostOf } from "../testing/served-host.fixture.ts";

/** A desk over a folder with `count` conversations, and a client that watches its list. */
async function deskWith(count: number) {
  const directory = await mkdtemp(join(tmpdir(), "banyan-lists-"));
  if (count > 0) await manyConversations(directory, count);
  const store = sqliteStore({ directory });
  const { host } = hostOf(store, { model: scriptedModel((_request, index) => `Answer ${index + 1}.`) });
  const desk = new Desk({ host, idle: 600_000 });
  const frames: Extract<ServerFrame, { type: "conversations" }>[] = [];
  const client = new Client(desk.link(), {
    frame: (frame) => frame.type === "conversations" && void frames.push(frame),
  });
  onTestFinished(async () => {
    client.close();
    await desk.stop();
    await store.close();
    await rm(directory, { recursive: true });
  });
  const say = async (conversation: string, text: string) => {
    await client.ask("turn.say", { conversation, parts: [{ type: "text", text }] });
    const { session } = await desk.conversations.open(conversation);
    await expect.poll(() => session.state.runs.size).toBe(0);
  };
  return { directory, store, client, frames, say };
}

test("V2: a watched turn reads the conversation that changed, however many conversations are stored", async () => {
  const accesses = [];
  for (const count of [20, 1_000]) {
    const { directory, client, frames, say } = await deskWith(count);
    const conversation = numberedId(5);
    await client.ask("conversation.watch", { on: true });
    await client.ask("conversation.list", {});
    await say(conversation, "first");
    await expect.poll(() => frames.at(-1)?.changed[0]).toMatchObject({ id: conversation, running: 0 });
    await setTimeout(300);
    const before = frames.length;
    const { opened } = await countAccesses(directory, async () => {
      await say(conversation, "second");
      await expect.poll(() => frames.slice(before).at(-1)?.changed[0]).toMatchObject({ unread: 2, running: 0 });
    });
    accesses.push(opened);
    for (const { changed, removed } of frames) expect(changed.length + removed.length).toBe(1);
  }
  expect(accesses).toEqual([0, 0]);
});

test("V2: pages of the list have the order of the whole list, and no conversation twice", async () => {
  const { store, client } = await deskWith(1_203);
  const pages = await Array.fromAsync(conversationPages(client));
  expect(pages.map(({ length }) => length)).toEqual([500, 500, 203]);
  expect(pages.flat().map(({ id }) => id)).toEqual((await store.list()).map(({ id }) => id));
});

test("V2: the changes that a client gets add up to the server's list", async () => {
  const { client, frames, say } = await deskWith(0);
  await client.ask("conversation.watch", { on: true });
  const list = new Map<string, ListedConversation>();
  const ids: string[] = [];
  for (let step = 0; step < 12; step++) {
    const known = ids[(step * 7) % Math.max(1, ids.length)] ?? "";
    if (step % 3 === 0) {
      const { conversation } = await client.ask("conversation.create", {});
      ids.push(conversation);
      await say(conversation, `Message ${step}`);
    } else if (step % 5 === 1) await client.ask("conversation.rename", { conversation: known, title: `Title ${step}` });
    else if (step % 5 === 2) await say(known, `Message ${step}`);
    else if (step % 5 === 3) await client.ask("conversation.seen", { conversation: known });
    else {
      await client.ask("conversation.remove", { conversation: known });
      ids.splice(ids.indexOf(known), 1);
    }
  }
  await expect
    .poll(async () => {
      for (const { changed, removed } of frames.splice(0)) {
        for (const each of changed) list.set(each.id, each);
        for (const id of removed) list.delete(id);
      }
      const { conversations } = await client.ask("conversation.list", {});
      return (
        JSON.stringify([...list.values()].sort((a, b) => b.updatedAt - a.updatedAt)) === JSON.stringify(conversations)
      );
    })
    .toBe(true);
});
