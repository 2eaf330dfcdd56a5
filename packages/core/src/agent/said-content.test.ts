import { expect, test } from "vitest";
import type { UserContent } from "../conversation/checked/user-content.ts";
import type { FeedItem } from "../conversation/feed-item.ts";
import { textOf } from "../conversation/message.ts";
import { Session } from "../session/session.ts";
import { collect } from "../testing/collect.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { Agent } from "./agent.ts";
import { type Directive, retry, say } from "./directive.ts";

const BYTES = new Uint8Array([1, 2, 3]);
const PARTS = [{ type: "file", mediaType: "image/png", data: "AQID" }];

/** All ways in which a program passes a message. */
const WAYS: readonly [string, (content: UserContent, session: Session, agent: Agent) => unknown][] = [
  ["say", (content) => say(content)],
  ["retry", (content) => retry(content)],
  ["a directive by hand", (parts, session, agent) => agent.chat({ type: "say", parts } as Directive, { session })],
  ["a retry by hand", (parts, session, agent) => agent.chat({ type: "retry", parts } as Directive, { session })],
  ["send", (content, session, agent) => agent.send(content, { session })],
  ["session.add", (content, session) => session.add(content)],
  ["session.say", (content, session) => session.say(content)],
  ["session.editInput", (parts, session) => session.editInput("waits", { parts: parts as [] })],
];

test.each(WAYS)("F75: %s refuses another shape, names the field, and writes nothing", async (_, hand) => {
  const model = scriptedModel(["Hello."]);
  const session = Session.inMemory();
  await session.say("Later.", { id: "waits" });
  const before = session.cursor;
  const content = [
    { type: "text", text: "Look." },
    { type: "text", text: 5 },
  ] as unknown as UserContent;
  await expect(async () => hand(content, session, new Agent({ model }))).rejects.toMatchObject({
    name: "DirectiveError",
    code: "malformed",
    message: "parts[1].text must be a string, not a number.",
  });
  expect(session.cursor).toEqual(before);
  expect(model.requests).toEqual([]);
});

test("F75: bytes are in the log and in the request as base 64, whichever way they came", async () => {
  const model = scriptedModel(() => "Seen.");
  const agent = new Agent({ model });
  const session = Session.inMemory();
  const file = { type: "file", mediaType: "image/png", data: BYTES } as const;
  await agent.send([file], { session });
  await collect(
    agent.chat(retry({ role: "user", content: [{ type: "image", image: BYTES, mediaType: "image/png" }] }), {
      session,
    }),
  );
  const added = await session.add([file]);
  const waits = await session.say("Later.");
  await session.editInput(waits, { parts: [file] });
  expect([...session.state.messages.values()].flatMap(({ role, parts }) => (role === "user" ? [parts] : []))).toEqual([
    PARTS,
    PARTS,
    PARTS,
  ]);
  expect(session.state.messages.get(added)?.parts).toEqual(PARTS);
  expect(session.state.inbox.map(({ parts }) => parts)).toEqual([PARTS]);
  expect(model.requests[0]?.messages.at(-1)).toMatchObject({ parts: PARTS });
});

/** A session with a malformed message from a host. */
async function withWrongMessage(): Promise<Session> {
  const session = Session.inMemory();
  await session.add("First.", { id: "first" });
  const wrong = { type: "message.added", message: "wrong", parentId: "first", role: "user" } as const;
  await session.commit([{ ...wrong, parts: [{ type: "text", text: 5 }] as unknown as [] }]);
  return session;
}

test("F77: an unreadable message is left out with one notice, and the turn continues", async () => {
  const session = await withWrongMessage();
  const reason = "parts[0].text must be a string, not a number.";
  expect(session.state.messages.get("wrong")).toMatchObject({ parts: [], unreadable: reason });
  const model = scriptedModel(() => "Hello.");
  const agent = new Agent({ model });
  const notices = async () => {
    const items: FeedItem[] = await collect(agent.chat(say("Hi."), { session }));
    return items.filter(({ type }) => type === "message.left-out");
  };
  expect(await notices()).toEqual([{ type: "message.left-out", message: "wrong", reason }]);
  expect(await notices()).toEqual([]);
  expect(model.requests[0]?.messages).toEqual([
    { role: "user", parts: [{ type: "text", text: "First." }] },
    { role: "user", parts: [{ type: "text", text: "Hi." }] },
  ]);
});

test("F77: watchers get an event that each reader can read", async () => {
  const session = await withWrongMessage();
  const feed = session.feed();
  const wrong = { type: "message.added", message: "other", parentId: "wrong", role: "user" } as const;
  await session.commit([{ ...wrong, parts: null as unknown as [] }]);
  const { value } = await feed.next();
  expect(value).toMatchObject({ ...wrong, parts: [], unreadable: "parts must be an array, not null." });
  await feed.return?.();
});

test("F77: an unreadable message causes no request for an answer, and new words do", async () => {
  const session = await withWrongMessage();
  const agent = new Agent({ model: scriptedModel(["Hello."]) });
  const sentence = "The last message cannot be read, so no model can answer it. Send a new message.";
  await expect(collect(agent.chat(retry(), { session }))).rejects.toThrow(sentence);
  await collect(agent.chat(retry("In other words."), { session }));
  expect(textOf([...session.state.messages.values()].at(-1) ?? ({} as never))).toBe("Hello.");
});

test("F77: an unreadable input is delivered as unreadable, and the turn continues", async () => {
  const session = Session.inMemory();
  const queued = { type: "input.queued", input: "i", delivery: "steer", run: null } as const;
  await session.commit([{ ...queued, parts: [{ type: "sound" }] as unknown as [] }]);
  expect(session.state.inbox).toMatchObject([{ parts: [], unreadable: expect.stringContaining('"sound"') }]);
  const model = scriptedModel(["Hello."]);
  await session.say("Go on.");
  await collect(new Agent({ model }).chat({ type: "resume" }, { session }));
  expect(session.state.messages.get("i")).toMatchObject({ parts: [], unreadable: expect.stringContaining('"sound"') });
  expect(model.requests[0]?.messages).toEqual([{ role: "user", parts: [{ type: "text", text: "Go on." }] }]);
});
