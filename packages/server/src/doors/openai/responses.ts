import { z } from "zod";
import type { ClientCall, DoorTurn, TurnResult } from "./turn.ts";
import {
  decodeId,
  earlierMessages,
  encodeId,
  finishOf,
  type OpenAiFormat,
  type OpenAiStream,
  type OpenAiTurn,
  openAiContent,
  openAiRequest,
  openAiText,
  openAiTurn,
  requestTools,
  resultsOf,
  textFormat,
  userPartsOf,
} from "./words.ts";

const output = z.object({
  type: z.literal("function_call_output"),
  call_id: z.string().max(2_000),
  output: openAiContent,
});
const call = z.object({
  type: z.literal("function_call"),
  call_id: z.string().max(2_000),
  name: z.string(),
  arguments: z.string(),
});
const PASSED_OVER: readonly string[] = ["reasoning", "item_reference"];
const passedOver = z.object({ type: z.enum(["reasoning", "item_reference"]) });
const item = z.union([output, call, passedOver, openAiTurn], {
  error: "expected a message, a function_call or a function_call_output",
});

export const responsesRequest = z.object({
  ...openAiRequest,
  input: z.union([z.string().min(1), z.array(item).min(1)]),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  text: z.looseObject({ format: textFormat }).nullish(),
});

/** Reads the requests and writes the responses of `/v1/responses`. */
export function responsesWords(data: z.infer<typeof responsesRequest>): OpenAiFormat {
  const created_at = Math.floor(Date.now() / 1000);
  const response = (turn: DoorTurn, taken?: TurnResult) => ({
    id: responseId(turn),
    object: "response",
    created_at,
    model: data.model,
    error: null,
    previous_response_id: data.previous_response_id ?? null,
    instructions: data.instructions ?? null,
    tools: [],
    tool_choice: "auto",
    parallel_tool_calls: true,
    metadata: {},
    temperature: null,
    top_p: null,
    status: taken ? (finishOf(taken) === "stop" ? "completed" : "incomplete") : "in_progress",
    incomplete_details: taken && finishOf(taken) !== "stop" ? { reason: "max_output_tokens" } : null,
    output: [
      ...(taken?.outputs ?? []).map(({ type, text }, index) =>
        type === "goal"
          ? goalOutput(`rs_${index}_${responseId(turn)}`, text)
          : responseOutput(`msg_${index}_${responseId(turn)}`, text, "completed"),
      ),
      ...(taken?.calls ?? []).map((each) => callItem(turn, each, "completed")),
    ],
    usage: taken ? responseUsage(taken) : null,
  });
  return {
    asking: () => {
      const tools = requestTools(data);
      const items = typeof data.input === "string" ? [{ role: "user" as const, content: data.input }] : data.input;
      const isResult = (each: (typeof items)[number]) => "type" in each && each.type === "function_call_output";
      const results = items.slice(items.findLastIndex((each) => !isResult(each)) + 1);
      if (results.length > 0)
        return {
          ...resultsOf(
            results.flatMap((each) =>
              "output" in each ? [{ id: each.call_id, output: openAiText(each.output) }] : [],
            ),
          ),
          tools,
        };
      const { told, history } = earlierMessages(items);
      const instructions: readonly OpenAiTurn[] = data.instructions
        ? [{ role: "system", content: data.instructions }]
        : [];
      const [conversation, behind] = data.previous_response_id
        ? decodeId(data.previous_response_id, "previous_response_id: this server made no response of that id.")
        : [];
      const program =
        conversation === undefined ? { program: data.stream ? ("streamed" as const) : ("whole" as const) } : {};
      return {
        conversation,
        behind,
        ...program,
        history: history.filter((each) => !("type" in each && PASSED_OVER.includes(each.type))),
        parts: userPartsOf([
          ...instructions,
          ...told,
          ...items.slice(-1).flatMap((each) => ("role" in each ? [each] : [])),
        ]),
        tools,
      };
    },
    whole: (turn, taken) => response(turn, taken),
    streamed: (turn, send) => responseStream(turn, response, send),
  };
}

const responseId = ({ conversation, message }: DoorTurn) => encodeId("resp", conversation, message);

function callItem(
  { conversation }: DoorTurn,
  { call, tool, inputText }: ClientCall,
  status: "in_progress" | "completed",
) {
  const call_id = encodeId("call", conversation, call);
  const input = inputText === "" ? "{}" : inputText;
  return { id: `fc_${call}`, type: "function_call", call_id, name: tool, arguments: input, status };
}

function responseStream(
  turn: DoorTurn,
  response: (turn: DoorTurn, taken?: TurnResult) => object,
  send: (data: object) => void,
): OpenAiStream {
  const id = responseId(turn);
  let sequence_number = 0;
  const tell = (type: string, data: object) => send({ type, sequence_number: sequence_number++, ...data });
  let open: { readonly message: string; readonly index: number; text: string } | undefined;
  let items = 0;
  const close = (status: "completed" | "incomplete") => {
    if (!open) return;
    const { index, text } = open;
    const at = { item_id: `msg_${index}_${id}`, output_index: index, content_index: 0 };
    tell("response.output_text.done", { ...at, text, logprobs: [] });
    tell("response.content_part.done", { ...at, part: textPart(text) });
    tell("response.output_item.done", { output_index: index, item: responseOutput(at.item_id, text, status) });
    open = undefined;
  };
  const tellGoal = (text: string) => {
    const output_index = items++;
    const item = goalOutput(`rs_${output_index}_${id}`, text);
    const at = { item_id: item.id, output_index, summary_index: 0 };
    tell("response.output_item.added", { output_index, item: { ...item, summary: [] } });
    tell("response.reasoning_summary_part.added", { ...at, part: summaryPart("") });
    tell("response.reasoning_summary_text.delta", { ...at, delta: text });
    tell("response.reasoning_summary_text.done", { ...at, text });
    tell("response.reasoning_summary_part.done", { ...at, part: summaryPart(text) });
    tell("response.output_item.done", { output_index, item });
  };
  const handOut = (made: ClientCall) => {
    const output_index = items++;
    const whole = callItem(turn, made, "completed");
    const at = { item_id: whole.id, output_index };
    tell("response.output_item.added", {
      output_index,
      item: { ...callItem(turn, made, "in_progress"), arguments: "" },
    });
    tell("response.function_call_arguments.delta", { ...at, delta: whole.arguments });
    tell("response.function_call_arguments.done", { ...at, name: whole.name, arguments: whole.arguments });
    tell("response.output_item.done", { output_index, item: whole });
  };
  tell("response.created", { response: response(turn) });
  tell("response.in_progress", { response: response(turn) });
  return {
    hear: (heard) => {
      if (heard.type === "abandoned") return open?.message === heard.message ? close("incomplete") : undefined;
      if (heard.type === "reasoning") return;
      if (heard.type === "goal") {
        close("completed");
        return tellGoal(heard.text);
      }
      if (open?.message !== heard.message) {
        close("completed");
        open = { message: heard.message, index: items++, text: "" };
        const item_id = `msg_${open.index}_${id}`;
        tell("response.output_item.added", {
          output_index: open.index,
          item: { ...responseOutput(item_id, "", "in_progress"), content: [] },
        });
        tell("response.content_part.added", {
          item_id,
          output_index: open.index,
          content_index: 0,
          part: textPart(""),
        });
      }
      open.text += heard.text;
      const at = { item_id: `msg_${open.index}_${id}`, output_index: open.index, content_index: 0 };
      tell("response.output_text.delta", { ...at, delta: heard.text, logprobs: [] });
    },
    end: (taken) => {
      close("completed");
      for (const made of taken.calls) handOut(made);
      const type = finishOf(taken) === "stop" ? "response.completed" : "response.incomplete";
      tell(type, { response: response(turn, taken) });
    },
    fail: ({ error }) => {
      close("incomplete");
      const why = { code: "server_error", message: error.message };
      tell("response.failed", { response: { ...response(turn), status: "failed", error: why } });
    },
  };
}

const textPart = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });

function responseOutput(id: string, text: string, status: "in_progress" | "completed" | "incomplete") {
  return { id, type: "message", role: "assistant", status, content: [textPart(text)] };
}

const summaryPart = (text: string) => ({ type: "summary_text", text });

/** The results of a goal are reasoning, so that programs show them and do not take them for the answer. */
function goalOutput(id: string, text: string) {
  return { id, type: "reasoning", summary: [summaryPart(text)] };
}

function responseUsage({ usage }: TurnResult) {
  return {
    input_tokens: usage.input,
    output_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    input_tokens_details: { cached_tokens: usage.cached },
    output_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}
