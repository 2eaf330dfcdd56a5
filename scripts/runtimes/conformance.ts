// Checks of the published packages that hold in every runtime. A plain program: not every runtime has a test framework.
import { Agent, defineTool, isDelta, isEvent, leaves, pathTo, Session, say, textOf } from "@banyan/core";
import { anthropic } from "@banyan/models/anthropic";
import { groq } from "@banyan/models/groq";
import { openai } from "@banyan/models/openai";
import { openaiCompatible } from "@banyan/models/openai-compatible";
import { knownItem } from "@banyan/protocol";
import { memoryStore } from "@banyan/store/memory";

/** The addresses of a mocked provider, and of a server whose answers do not end. */
export interface Addresses {
  readonly mock: string;
  readonly slow: string;
}

function equal(actual: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (one !== other) throw new Error(`Expected ${other}, not ${one}.`);
}

const weather = defineTool({
  name: "weather",
  description: "Tells the weather of a city.",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  effects: "none",
  execute: (input) => `Sunny in ${(input as { readonly city: string }).city}.`,
});

function checks({ mock, slow }: Addresses): Readonly<Record<string, () => Promise<void>>> {
  const chat = openaiCompatible("m", { baseURL: `${mock}/v1` });
  const messages = anthropic("m", { baseURL: mock, apiKey: "key" });
  const key = { baseURL: `${mock}/v1`, apiKey: "key" };
  const drivers = { chat, messages, responses: openai("m", key), "ai-sdk": groq("m", key) };
  const endless = openaiCompatible("m", { baseURL: `${slow}/v1` });

  const list: Record<string, () => Promise<void>> = {};
  for (const [name, model] of Object.entries(drivers)) {
    list[`${name}: streams an answer`] = async () => {
      const pieces: string[] = [];
      const conversation = new Agent({ model }).chat(say("Hello"));
      for await (const piece of conversation.text) pieces.push(piece);
      equal(pieces.join(""), "Good morning, dear wörld. 🌳");
      if (pieces.length < 2) throw new Error("The answer came in one piece.");
      equal((await conversation.turn).reason, "answered");
    };
    list[`${name}: calls a tool and continues`] = async () => {
      const session = Session.inMemory();
      const { text } = await new Agent({ model, tools: [weather] }).send("What is the weather in Rome?", { session });
      equal(text, "It is sunny.");
      const [call] = [...session.state.messages.values()].flatMap((message) =>
        message.role === "assistant" ? message.calls : [],
      );
      equal([call?.tool, call?.status, call?.output], ["weather", "completed", "Sunny in Rome."]);
    };
  }

  list["ends a turn when its signal aborts, and goes on afterwards"] = async () => {
    const session = Session.inMemory();
    const stop = new AbortController();
    const turn = new Agent({ model: endless }).chat(say("Hello"), { session, signal: stop.signal });
    for await (const piece of turn.text) {
      equal(piece, "Once");
      stop.abort();
    }
    equal((await turn.turn).reason, "interrupted");
    equal((await new Agent({ model: chat }).send("Hello", { session })).text, "Good morning, dear wörld. 🌳");
  };

  list["repeats a failed request"] = async () => {
    const model = openaiCompatible("m", { baseURL: `${slow}/broken` });
    const { text } = await new Agent({ model, retry: { delay: 5 } }).send("Hello");
    equal(text, "At last");
  };

  list["keeps a tree with branches in a store"] = async () => {
    const store = memoryStore();
    const agent = new Agent({ model: chat });
    const session = await Session.open(store, "tree", { create: true });
    await agent.send("Hello", { session });
    const fork = session.state.leaf ?? undefined;
    await agent.send("Hello", { session, at: fork });
    await agent.send("Hello", { session, at: fork });
    await session.close();
    const opened = await Session.open(store, "tree");
    const ends = leaves(opened.state);
    equal(ends.length, 2);
    for (const end of ends) {
      const path = pathTo(opened.state, end);
      equal(
        path.map(({ role }) => role),
        ["user", "assistant", "user", "assistant"],
      );
      equal(path.slice(-1).map(textOf), ["Good morning, dear wörld. 🌳"]);
    }
    equal((await store.search("wörld")).length, 3);
    equal(JSON.parse(JSON.stringify(opened.state)).messages.length, 6);
    await opened.close();
    await store.close();
  };

  list["asks before a call, and runs it once the user allows it"] = async () => {
    const session = Session.inMemory();
    const agent = new Agent({ model: chat, tools: [weather], permission: () => ({ decision: "ask" }) });
    const conversation = agent.chat(say("What is the weather in Rome?"), { session });
    for await (const item of conversation)
      if (item.type === "call.approval-requested") await session.answer(item.question, { decision: "allow" });
    equal((await conversation.turn).text, "It is sunny.");
  };

  list["sends the bytes of a picture"] = async () => {
    const session = Session.inMemory();
    const image = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]);
    const ask = [
      { type: "text", text: "What is in the picture?" },
      { type: "image", image },
    ] as const;
    equal((await new Agent({ model: chat }).send(ask, { session })).text, "A tree.");
  };

  list["returns a typed result"] = async () => {
    const output = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
    const { result } = await new Agent({ model: chat, output }).send("Which city?");
    equal(result, { city: "Rome" });
  };

  list["has a feed that the protocol knows"] = async () => {
    const session = Session.inMemory();
    for await (const item of new Agent({ model: chat }).chat(say("Hello"), { session }))
      if (isEvent(item) || isDelta(item)) knownItem.parse(item);
  };
  return list;
}

/** The outcome of a check: its error, if it failed. */
export interface Verdict {
  readonly name: string;
  readonly error?: string;
}

/** Runs all checks, one after the other. */
export async function conform(addresses: Addresses): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const [name, check] of Object.entries(checks(addresses))) {
    try {
      await check();
      verdicts.push({ name });
    } catch (error) {
      verdicts.push({ name, error: error instanceof Error ? `${error.stack}` : String(error) });
    }
  }
  return verdicts;
}
