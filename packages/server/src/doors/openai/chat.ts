import { z } from "zod";
import { formFields } from "./form.ts";
import type { ContinuedBranch } from "./history.ts";
import { type ClientCall, type DoorTurn, type TurnResult, textsOf } from "./turn.ts";
import {
  earlierMessages,
  encodeId,
  finishOf,
  type OpenAiFormat,
  type OpenAiTurn,
  openAiContent,
  openAiRequest,
  openAiText,
  openAiTurn,
  requestTools,
  resultsOf,
  userPartsOf,
} from "./words.ts";

const made = z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) });
const calling = z.object({
  role: z.literal("assistant"),
  content: openAiContent.nullish(),
  tool_calls: z.array(made).min(1),
});
const result = z.object({ role: z.literal("tool"), tool_call_id: z.string().max(2_000), content: openAiContent });
const message = z.union([calling, result, openAiTurn.extend({ content: openAiContent.nullish() })], {
  error: "expected a role of system, developer, user, assistant or tool, and a content of texts and images",
});

export const chatRequest = z.object({
  ...openAiRequest,
  messages: z.array(message).min(1),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  ...formFields,
});
type ChatRequest = z.infer<typeof chatRequest>;

/** Finds the branch that contains the earlier messages of a request. `undefined` if no conversation contains them. */
export type FindBranch = (before: readonly OpenAiTurn[]) => Promise<ContinuedBranch | undefined>;

/** The conversations and branches that a chat request may continue. */
export interface ChatContext {
  readonly conversation?: string | undefined;
  readonly chat?: string | undefined;
  readonly find: FindBranch;
}

/** Returns the messages of a chat request, without calls and results of the program's own tools. */
export function openAiTurns({ messages }: ChatRequest): readonly OpenAiTurn[] {
  return messages.flatMap((turn) => {
    if (turn.role === "tool") return [];
    return [{ role: turn.role, content: turn.content ?? "" }];
  });
}

/** Reads the requests and writes the responses of `/v1/chat/completions`. */
export function chatWords(data: ChatRequest, { conversation, chat, find }: ChatContext): OpenAiFormat {
  const head = () => ({ created: Math.floor(Date.now() / 1000), model: data.model });
  const idOf = (turn: DoorTurn) => `chatcmpl-${encodeId("resp", turn.conversation, turn.message)}`;
  return {
    asking: async () => {
      const tools = requestTools(data);
      const results = data.messages.slice(data.messages.findLastIndex(({ role }) => role !== "tool") + 1);
      if (results.length > 0)
        return { ...resultsOf(results.flatMap((each) => ("tool_call_id" in each ? [resultIn(each)] : []))), tools };
      const last = openAiTurns(data).slice(-1);
      // A known conversation already has the earlier messages.
      if (conversation !== undefined) return { conversation, parts: userPartsOf(last), tools };
      const { told, history } = earlierMessages(data.messages);
      const branch = await find([...told, ...openAiTurns({ ...data, messages: history })]);
      if (branch) {
        const { missing, turns, ...where } = branch;
        const lacking = history.slice(turnBeginning(history, turns));
        return { ...where, history: lacking, parts: userPartsOf([...missing, ...last]), tools };
      }
      const program = data.stream ? ("streamed" as const) : ("whole" as const);
      return { conversation: chat, program, history, parts: userPartsOf([...told, ...last]), tools };
    },
    whole: (turn, taken) => ({
      id: idOf(turn),
      object: "chat.completion",
      ...head(),
      usage: openAiUsage(taken),
      choices: [
        {
          index: 0,
          finish_reason: reasonOf(taken),
          logprobs: null,
          message: {
            role: "assistant",
            content: textsOf(taken, "text").join("\n\n"),
            ...reasoningOf(taken),
            refusal: null,
            ...(taken.calls.length > 0 && { tool_calls: taken.calls.map((call) => openAiCall(turn, call)) }),
          },
        },
      ],
    }),
    streamed: (turn, send) => {
      let last: string | undefined;
      const chunk = (more: object) => send({ id: idOf(turn), object: "chat.completion.chunk", ...head(), ...more });
      const say = (delta: object, finish_reason: string | null = null) =>
        chunk({ choices: [{ index: 0, delta, finish_reason }] });
      say({ role: "assistant", content: "" });
      return {
        hear: (heard) => {
          if (heard.type === "abandoned") return;
          if (heard.type === "reasoning") return say({ reasoning_content: heard.text });
          if (heard.type === "goal") return say({ reasoning_content: `${heard.text}\n` });
          // Two answers of one turn become two paragraphs.
          say({ content: last === undefined || last === heard.message ? heard.text : `\n\n${heard.text}` });
          last = heard.message;
        },
        end: (taken) => {
          for (const [index, call] of taken.calls.entries())
            say({ tool_calls: [{ index, ...openAiCall(turn, call) }] });
          say({}, reasonOf(taken));
          if (data.stream_options?.include_usage) chunk({ choices: [], usage: openAiUsage(taken) });
        },
        fail: (problem) => send(problem),
        last: "[DONE]",
      };
    },
  };
}

/** The results of a goal, as in a stream. */
function reasoningOf(taken: TurnResult) {
  const lines = textsOf(taken, "goal").map((text) => `${text}\n`);
  return lines.length === 0 ? {} : { reasoning_content: lines.join("") };
}

const reasonOf = (taken: TurnResult) => (taken.reason === "calls" ? "tool_calls" : finishOf(taken));

function openAiCall({ conversation }: DoorTurn, { call, tool, inputText }: ClientCall) {
  return {
    id: encodeId("call", conversation, call),
    type: "function",
    function: { name: tool, arguments: inputText === "" ? "{}" : inputText },
  };
}

const resultIn = ({ tool_call_id, content }: z.infer<typeof result>) => ({
  id: tool_call_id,
  output: openAiText(content),
});

/** Returns the place of the message after these turns. A history may begin with a response, as a turn of its own. */
function turnBeginning(history: readonly { readonly role: string }[], turns: number): number {
  const begins = history.flatMap(({ role }, index) => (role === "user" || index === 0 ? [index] : []));
  return begins[turns] ?? history.length;
}

function openAiUsage({ usage }: TurnResult) {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}
