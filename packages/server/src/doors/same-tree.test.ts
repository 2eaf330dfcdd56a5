import { createId } from "@banyan/core";
import type { Event } from "@banyan/core/conversation";
import { scriptedModel } from "@banyan/core/testing";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { AgUiClient } from "../testing/ag-ui-client.fixture.ts";
import { type DoorScenario, doorScenarios } from "../testing/door-scenarios.fixture.ts";
import { ask } from "../testing/request.fixture.ts";
import type { Served } from "../testing/served.fixture.ts";
import { serving, TOKEN } from "../testing/serving.fixture.ts";
import { TestClient } from "../testing/test-client.fixture.ts";

/** Plays a scenario by a door, and answers with the conversation; nothing where that door cannot do it, by what it is. */
type Door = (site: Served, scenario: DoorScenario) => Promise<string | undefined>;

const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };

const doors: Readonly<Record<string, Door>> = {
  async "the socket"({ server }, { says, answers }) {
    const client = await TestClient.connect(server);
    const { conversation } = await client.ask("conversation.create", {});
    const { state } = await client.watch(conversation);
    for (const [index, said] of says.entries()) {
      if (typeof said === "string")
        await client.ask("turn.say", { conversation, parts: [{ type: "text", text: said }] });
      else await client.ask("turn.retry", { conversation });
      const ends = () => client.items.filter((item) => item.type === "run.ended" && !state.runs.has(item.run)).length;
      await client.until(() => state.questions.size > 0 || (state.runs.size === 0 && ends() > index));
      for (const { id } of state.questions.values())
        await client.ask("question.answer", { conversation, question: id, answer: { decision: answers ?? "deny" } });
      await client.until(() => state.runs.size === 0 && ends() > index);
    }
    return conversation;
  },

  async "/v1"({ server }, { says, answers }) {
    const texts = says.filter((said) => typeof said === "string");
    // No person can be asked there, and another answer is to a message of its own beside the first.
    if (answers === "allow" || texts.length < says.length) return undefined;
    const client = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: TOKEN, maxRetries: 0 });
    let before: OpenAI.ChatCompletionMessageParam[] = [];
    let conversation: string | null = null;
    for (const said of texts) {
      before.push({ role: "user", content: said });
      const sent = client.chat.completions.create({ model: "banyan", messages: before });
      const { data, response } = await sent.withResponse();
      before = [...before, { role: "assistant", content: data.choices[0]?.message.content ?? "" }];
      conversation = response.headers.get("x-banyan-conversation");
    }
    return conversation ?? undefined;
  },

  async "/api/chat"({ server }, { says, answers }) {
    const id = createId();
    const post = (body: object) =>
      ask(server.address, "/api/chat", { method: "POST", headers, body: JSON.stringify({ id, ...body }) });
    const messages = async () => {
      const { body } = await ask(server.address, `/api/chat/${id}`, { headers });
      // Before the first turn there is no such conversation.
      return (JSON.parse(body).messages ?? []) as { id: string; role: string; parts: object[] }[];
    };
    for (const said of says) {
      const user = { id: createId(), role: "user", parts: [{ type: "text", text: said }] };
      const { body } = await (typeof said === "string"
        ? post({ messages: [...(await messages()), user] })
        : post({ messages: (await messages()).slice(0, -1), trigger: "regenerate-message" }));
      const chunks = body
        .split("\n")
        .flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []));
      const asks = chunks.find(({ type }) => type === "tool-approval-request");
      if (!asks) continue;
      const approval = { id: asks.approvalId, approved: answers === "allow" };
      const { messageId } = chunks.find(({ type }) => type === "start");
      const answered = { id: messageId, role: "assistant", parts: [{ type: "dynamic-tool", approval }] };
      expect((await post({ messages: [answered] })).body).toContain('"finish"');
    }
    return id;
  },

  async "/api/ag-ui"({ server }, { says, answers }) {
    const client = new AgUiClient(server.address, createId());
    for (const said of says) {
      if (typeof said === "string") await client.say(said);
      else {
        client.setMessages(client.messages.slice(0, 1));
        await client.runAgent();
      }
      const resume = client.pendingInterrupts.map(
        ({ id: interruptId }) =>
          ({ interruptId, status: "resolved", payload: { approved: answers === "allow" } }) as const,
      );
      if (resume.length > 0) await client.runAgent({ resume });
    }
    return client.threadId;
  },
};

/** The tree of a conversation, without ids, times, and the words in which a denial is told. */
async function treeOf(address: string, conversation: string): Promise<object[]> {
  const { body } = await ask(address, `/api/v1/conversations/${conversation}/export`, { headers });
  const { events } = JSON.parse(body) as { events: Event[] };
  const places = new Map<string | null, number>([[null, -1]]);
  const place = (id: string) => places.set(id, places.size - 1);
  return events.flatMap((event): object[] => {
    switch (event.type) {
      case "message.added":
        place(event.message);
        return [{ by: event.author ?? event.role, below: places.get(event.parentId), parts: event.parts }];
      case "message.started":
        place(event.message);
        return [{ by: "assistant", at: places.get(event.message), below: places.get(event.parentId) }];
      case "message.completed":
        return [
          { at: places.get(event.message), finish: event.finish, usage: event.usage },
          event.parts.map((part) => ("text" in part ? [part.type, part.text] : [part.type])),
        ];
      case "message.abandoned":
        return [{ abandoned: places.get(event.message) }];
      case "call.pending":
        return [{ calls: event.tool, with: event.inputText, at: places.get(event.message) }];
      case "call.completed":
      case "call.failed":
      case "call.cancelled":
        return [{ [event.type]: event.output }];
      case "call.denied":
        return [{ denied: event.tool }];
      case "run.ended":
        return [{ ended: event.reason }];
      default:
        return [];
    }
  });
}

test.each(doorScenarios)("every door gives the tree that the socket gives: $name", async (scenario) => {
  const { script, agent, holds } = scenario;
  const model = scriptedModel((_, index) => script[index % script.length]);
  const site = await serving({ ...agent, model });
  let first: object[] | undefined;
  for (const [name, play] of Object.entries(doors)) {
    const conversation = await play(site, scenario);
    if (conversation === undefined) continue;
    const tree = await treeOf(site.server.address, conversation);
    first ??= tree;
    expect(tree, name).toEqual(first);
  }
  for (const held of holds) expect(JSON.stringify(first)).toContain(held);
});
