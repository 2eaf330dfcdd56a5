import { Agent, DirectiveError, defineTool, type JsonSchema, Session, type Tool } from "@banyan/core";
import type { UserPart } from "@banyan/core/conversation";
import { type ChatCompletionRequest, type FixtureResponse, LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Format, formats, openAt } from "../scenarios/formats.ts";
import { type Relay, relayTo } from "../scenarios/relay.ts";
import { calling } from "../scenarios/tools.ts";
import { unknownFields } from "./fields.ts";
import { violations } from "./limits.ts";
import { Odd } from "./odd-conversation.fixture.ts";

const PROMPTS = 3;
/** Responses of a turn that may have calls. */
const MOST_STEPS = 3;

/** Conversations that begin with each format: 5,000 in total in long mode. */
const COUNT = process.env.BANYAN_LONG ? Math.ceil(5_000 / formats.length) : 2;

/** The mock, which serves one conversation at a time with `answer`. */
let answer: (request: ChatCompletionRequest) => FixtureResponse;
let mock: LLMock;

beforeAll(async () => {
  mock = new LLMock({ port: 0, logLevel: "silent", strict: true, journalMaxEntries: 1 });
  mock.addFixture({ match: {}, response: (request) => answer(request) });
  await mock.start();
});
afterAll(() => mock.stop());

const providerOf = ({ model }: Format) => model.split("/", 1)[0] ?? "";

/** Ids of items, signatures and encrypted reasoning: only their own provider knows them. */
function ownIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(ownIn);
  const { signature, thoughtSignature, encrypted_content, type, id } = value as Readonly<Record<string, unknown>>;
  const isItem = type === "reasoning" || type === "item_reference" || type === "message";
  const own = [signature, thoughtSignature, encrypted_content, isItem ? id : undefined];
  return [...own.filter((one) => typeof one === "string"), ...Object.values(value).flatMap(ownIn)];
}

/** Requests to the providers of one conversation, and their refusals. */
interface Providers {
  readonly relays: Map<string, Relay[]>;
  readonly refused: string[];
  asked: Format;
}

/** A relay that refuses what the format's provider refuses, and ids and signatures of other providers. */
async function enforcing(format: Format, providers: Providers): Promise<Relay> {
  const provider = providerOf(format);
  const relays = providers.relays.get(provider) ?? [];
  providers.relays.set(provider, relays);
  const relay = await relayTo(mock.url, undefined, (body) => {
    providers.asked = format;
    const answers = relays.flatMap((one) => one.answers).join("");
    const foreign = ownIn(body).filter((id) => !answers.includes(JSON.stringify(id).slice(1, -1)));
    const words = [
      ...violations(provider, body),
      ...unknownFields(provider, body),
      ...foreign.map((id) => `${id} is not of ${provider}`),
    ];
    providers.refused.push(...words);
    return words;
  });
  relays.push(relay);
  return relay;
}

/** Three odd prompts in one conversation that changes its model once. Returns the refusals. */
async function converse(seed: number, before: Format, after: Format) {
  // The mock hangs up on requests of more than ten megabytes.
  const odd = new Odd(seed, 1);
  const providers: Providers = { relays: new Map(), refused: [], asked: before };
  await using first = await enforcing(before, providers);
  await using second = await enforcing(after, providers);
  const session = Session.inMemory();
  const changesAt = 1 + odd.up(PROMPTS - 1);
  const inTurn = odd.up(2) === 0;
  let prompt = 0;
  let steps = 0;

  const tool = (name: string): Tool => {
    const { input, description } = odd.usableTool();
    return defineTool({
      name,
      description,
      input: input as JsonSchema,
      effects: "none",
      execute: async (_, { attach }) => {
        // Like a user who chooses another model during the turn.
        if (inTurn && prompt === changesAt - 1 && session.state.model === undefined)
          await session.notes.changeModel("after");
        if (odd.up(4) === 0) attach(odd.picture() as Parameters<typeof attach>[0]);
        if (odd.up(5) === 0) throw new Error(odd.text());
        return odd.text();
      },
    });
  };
  const tools = [tool("look"), tool("find")];
  const reply = ({ tools: offered = [] }: ChatCompletionRequest): FixtureResponse => {
    // OpenAI shows no reasoning in this format.
    const shows = providerOf(providers.asked) !== "openai-chat";
    const thought = shows && odd.up(2) === 0 ? { reasoning: `Hm. ${odd.text()}` } : {};
    if (steps++ >= MOST_STEPS || odd.up(3) === 0) return { content: `Said ${odd.text()}`, ...thought };
    const names = offered.map((one) => one.function.name);
    const toolCalls = Array.from({ length: 1 + odd.up(2) }, () =>
      calling(odd.id(), odd.up(4) === 0 ? odd.name() : (odd.of(...names) ?? "look"), {
        [odd.of("q", "ids[]")]: odd.json(),
      }),
    );
    return { content: odd.text(), toolCalls, ...thought };
  };
  answer = reply;
  const modelNamed = () => openAt(after, second.address);
  const retry = { attempts: 1 };
  const agents = [
    new Agent({ model: await openAt(before, first.address), tools, modelNamed, retry }),
    new Agent({ model: await modelNamed(), tools, modelNamed, retry }),
  ];
  for (; prompt < PROMPTS; prompt++) {
    steps = 0;
    const isChanged = prompt >= changesAt || session.state.model !== undefined;
    if (isChanged && session.state.model === undefined) await session.notes.changeModel("after");
    const content = odd.user(true).parts as readonly UserPart[];
    const send = (parts: readonly UserPart[]) =>
      agents[isChanged ? 1 : 0]?.send([...parts, { type: "text", text: "Go." }], { session });
    await send(content)?.catch((error: unknown) => {
      if (!(error instanceof DirectiveError && error.code === "unusable-file")) throw error;
      return send(content.filter(({ type }) => type === "text"));
    });
  }
  return { refused: providers.refused, asked: [first.requests.length, second.requests.length] };
}

describe("F44, F45, F46, F47, F48, F49, F56, F66: no provider refuses a request over three prompts and a change of model,", () => {
  test.each(formats.map((format, index) => [format.name, format, index] as const))(
    "first %s",
    async (_, before, index) => {
      for (let count = 1; count <= COUNT; count++) {
        const seed = count * formats.length + index;
        const after = formats[(index + count) % formats.length] as Format;
        const { refused, asked } = await converse(seed, before, after);
        expect(refused, `seed ${seed}, then ${after.name}`).toEqual([]);
        expect(Math.min(...asked), `seed ${seed}, then ${after.name}`).toBeGreaterThan(0);
      }
    },
    60_000 + COUNT * 1_000,
  );
});
