import { methods } from "@agentclientprotocol/sdk/unstable";
import { connect } from "@banyan/client/node";
import { createId } from "@banyan/core";
import OpenAI from "openai";
import { expect } from "vitest";
import { AgUiClient } from "./ag-ui-client.fixture.ts";
import type { DoorScenario } from "./door-scenarios.fixture.ts";
import { editorAt } from "./editor.fixture.ts";
import { ask } from "./request.fixture.ts";
import type { Served } from "./served.fixture.ts";
import { TOKEN } from "./serving.fixture.ts";
import { TestClient } from "./test-client.fixture.ts";

/** Plays a scenario through a door. Resolves with the conversation, or `undefined` if the door cannot play it. */
export type DoorPlayer = (site: Served, scenario: DoorScenario) => Promise<string | undefined>;

export const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };

const eventually = (look: () => unknown) => expect.poll(look, { timeout: 20_000, interval: 10 });

/** All doors of a server, each with its own client. */
export const doorPlayers: Readonly<Record<string, DoorPlayer>> = {
  async "the socket"({ server }, { says, answers }) {
    const client = await TestClient.connect(server);
    const { conversation } = await client.ask("conversation.create", {});
    const { state } = await client.watch(conversation);
    const say = (text: string, at?: string) =>
      client.ask("turn.say", { conversation, parts: [{ type: "text", text }], ...(at && { at }) });
    for (const [index, move] of says.entries()) {
      if (typeof move === "string") await say(move);
      else if ("again" in move) await client.ask("turn.retry", { conversation });
      else if ("after" in move)
        await say(move.say, [...state.messages.values()].filter(({ role }) => role === "assistant")[move.after]?.id);
      else {
        await say(move.interrupted);
        await client.item("text.delta");
        await client.ask("run.interrupt", { conversation });
      }
      const ends = () => client.items.filter((item) => item.type === "run.ended" && !state.runs.has(item.run)).length;
      await client.until(() => state.questions.size > 0 || (state.runs.size === 0 && ends() > index));
      for (const { id } of state.questions.values())
        await client.ask("question.answer", { conversation, question: id, answer: { decision: answers ?? "deny" } });
      await client.until(() => state.runs.size === 0 && ends() > index);
    }
    return conversation;
  },

  async "/v1"({ server }, { says, answers }) {
    // This door has no questions, and its repeated answers follow a repeated message.
    if (answers === "allow" || says.some((move) => typeof move === "object" && "again" in move)) return undefined;
    const client = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: TOKEN, maxRetries: 0 });
    let before: OpenAI.ChatCompletionMessageParam[] = [];
    let conversation: string | null = null;
    for (const move of says) {
      if (typeof move === "object" && "interrupted" in move) {
        before.push({ role: "user", content: move.interrupted });
        const sent = client.chat.completions.create({ model: "banyan", messages: before, stream: true });
        const { data, response } = await sent.withResponse();
        conversation = response.headers.get("x-banyan-conversation");
        let said = "";
        for await (const { choices } of data) {
          said += choices[0]?.delta.content ?? "";
          // Disconnecting interrupts the turn.
          if (said !== "") break;
        }
        before.push({ role: "assistant", content: said });
        await eventually(async () => exported(server.address, conversation ?? "")).toContain('"run.ended"');
        continue;
      }
      if (typeof move === "object" && "after" in move) before = before.slice(0, 2 * (move.after + 1));
      before.push({ role: "user", content: typeof move === "string" ? move : "say" in move ? move.say : "" });
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
      // The conversation does not exist before the first turn.
      return (JSON.parse(body).messages ?? []) as { id: string; role: string; parts: object[] }[];
    };
    const user = (text: string) => ({ id: createId(), role: "user", parts: [{ type: "text", text }] });
    for (const move of says) {
      if (typeof move === "object" && "interrupted" in move) {
        const body = JSON.stringify({ id, messages: [user(move.interrupted)] });
        const telling = await fetch(`${server.address}/api/chat`, { method: "POST", headers, body });
        let told = "";
        for await (const piece of telling.body?.pipeThrough(new TextDecoderStream()) ?? []) {
          if (!told.includes('"text-delta"') && (told + piece).includes('"text-delta"'))
            await ask(server.address, `/api/chat/${id}/stop`, { method: "POST", headers });
          told += piece;
        }
        expect(told).toContain('"abort"');
        continue;
      }
      const there = await messages();
      const { body } = await (typeof move === "string"
        ? post({ messages: [...there, user(move)] })
        : "after" in move
          ? post({ messages: [...there.slice(0, 2 * (move.after + 1)), user(move.say)] })
          : post({ messages: there.slice(0, -1), trigger: "regenerate-message" }));
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
    for (const move of says) {
      if (typeof move === "string") await client.say(move);
      else if ("interrupted" in move) {
        const running = client.say(move.interrupted);
        await eventually(() => client.kinds).toContain("TEXT_MESSAGE_CONTENT");
        await ask(server.address, `/api/ag-ui/${client.threadId}/stop`, { method: "POST", headers });
        await running;
      } else if ("after" in move) {
        client.setMessages(client.messages.slice(0, 2 * (move.after + 1)));
        await client.say(move.say);
      } else {
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

  async "banyan acp"({ server, host }, { says, answers }) {
    const { session } = methods.agent;
    const optionId = answers === "allow" ? "once" : "no";
    const { workspace } = host;
    const there = {
      connect: (events = {}) => connect({ address: server.address, token: TOKEN, client: "a test" }, events),
    };
    const editor = await editorAt(there, {
      workspace,
      permit: async () => ({ outcome: { outcome: "selected", optionId } }),
    });
    const conversation = await editor.begin();
    let sessionId = conversation;
    for (const move of says) {
      if (typeof move === "string") await editor.say(sessionId, move);
      else if ("again" in move) await editor.say(sessionId, "/retry");
      else if ("after" in move) {
        const responses = new Set(editor.of("agent_message_chunk").map(({ messageId }) => messageId));
        const _meta = { banyan: { at: [...responses][move.after] } };
        ({ sessionId } = await editor.agent.request(session.fork, { sessionId, cwd: workspace, _meta }));
        await editor.say(sessionId, move.say);
      } else {
        const saying = editor.say(sessionId, move.interrupted);
        await eventually(() => editor.of("agent_message_chunk").length).toBeGreaterThan(0);
        await editor.agent.notify(session.cancel, { sessionId });
        expect(await saying).toEqual({ stopReason: "cancelled" });
      }
    }
    return conversation;
  },
};

/** All events of a conversation, from the server's export. */
export async function exported(address: string, conversation: string): Promise<string> {
  return (await ask(address, `/api/v1/conversations/${conversation}/export`, { headers })).body;
}
