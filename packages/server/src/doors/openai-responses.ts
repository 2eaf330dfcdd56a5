import { ClientError } from "@banyan/protocol/client";
import { z } from "zod";
import {
  finishOf,
  type OpenAiTelling,
  type OpenAiTurn,
  openAiRequest,
  openAiTurn,
  partsOf,
  type Words,
} from "./openai-words.ts";
import type { Taken } from "./turn.ts";

export const responsesRequest = z.object({
  ...openAiRequest,
  input: z.union([z.string().min(1), z.array(openAiTurn).min(1)]),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
});

/** How `/v1/responses` says a turn. */
export function responsesWords(data: z.infer<typeof responsesRequest>): Words {
  const created_at = Math.floor(Date.now() / 1000);
  const response = (id: string, taken?: Taken) => ({
    ...{ id, object: "response", created_at, model: data.model, error: null, incomplete_details: null },
    ...{ previous_response_id: data.previous_response_id ?? null, instructions: data.instructions ?? null },
    ...{ tools: [], tool_choice: "auto", parallel_tool_calls: true, metadata: {}, temperature: null, top_p: null },
    status: taken ? (finishOf(taken) === "stop" ? "completed" : "incomplete") : "in_progress",
    ...(taken && finishOf(taken) !== "stop" ? { incomplete_details: { reason: "max_output_tokens" } } : {}),
    output: (taken?.texts ?? []).map((text, place) => outputOf(`msg_${place}_${id}`, text, "completed")),
    usage: taken ? responseUsage(taken) : null,
  });
  return {
    asking: () => {
      const before = data.previous_response_id ? placeOf(data.previous_response_id) : undefined;
      const input: readonly OpenAiTurn[] =
        typeof data.input === "string" ? [{ role: "user", content: data.input }] : data.input;
      const told: readonly OpenAiTurn[] = data.instructions ? [{ role: "system", content: data.instructions }] : [];
      return { ...before, parts: partsOf([...told, ...input]) };
    },
    whole: (id, taken) => response(id, taken),
    streamed: (id, send) => responseStream(id, response, send),
  };
}

function responseStream(
  id: string,
  response: (id: string, taken?: Taken) => object,
  send: (data: object) => void,
): OpenAiTelling {
  let sequence_number = 0;
  const tell = (type: string, data: object) => send({ type, sequence_number: sequence_number++, ...data });
  let open: { readonly message: string; readonly place: number; text: string } | undefined;
  let items = 0;
  const close = (status: "completed" | "incomplete") => {
    if (!open) return;
    const { place, text } = open;
    const at = { item_id: `msg_${place}_${id}`, output_index: place, content_index: 0 };
    tell("response.output_text.done", { ...at, text, logprobs: [] });
    tell("response.content_part.done", { ...at, part: textPart(text) });
    tell("response.output_item.done", { output_index: place, item: outputOf(at.item_id, text, status) });
    open = undefined;
  };
  tell("response.created", { response: response(id) });
  tell("response.in_progress", { response: response(id) });
  return {
    hear: (heard) => {
      if (heard.type === "abandoned") return open?.message === heard.message ? close("incomplete") : undefined;
      if (heard.type === "reasoning") return;
      if (open?.message !== heard.message) {
        close("completed");
        open = { message: heard.message, place: items++, text: "" };
        const item_id = `msg_${open.place}_${id}`;
        tell("response.output_item.added", {
          output_index: open.place,
          item: { ...outputOf(item_id, "", "in_progress"), content: [] },
        });
        tell("response.content_part.added", {
          item_id,
          output_index: open.place,
          content_index: 0,
          part: textPart(""),
        });
      }
      open.text += heard.text;
      const at = { item_id: `msg_${open.place}_${id}`, output_index: open.place, content_index: 0 };
      tell("response.output_text.delta", { ...at, delta: heard.text, logprobs: [] });
    },
    end: (taken) => {
      close("completed");
      const type = finishOf(taken) === "stop" ? "response.completed" : "response.incomplete";
      tell(type, { response: response(id, taken) });
    },
    fail: ({ error }) => {
      close("incomplete");
      const why = { code: "server_error", message: error.message };
      tell("response.failed", { response: { ...response(id), status: "failed", error: why } });
    },
  };
}

const textPart = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });

function outputOf(id: string, text: string, status: "in_progress" | "completed" | "incomplete") {
  return { id, type: "message", role: "assistant", status, content: [textPart(text)] };
}

function responseUsage({ usage }: Taken) {
  return {
    ...{ input_tokens: usage.input, output_tokens: usage.output, total_tokens: usage.input + usage.output },
    input_tokens_details: { cached_tokens: usage.cached },
    output_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

/** A response is known by where it stands: no list of them is kept. */
export function idOf({ conversation, message }: { readonly conversation: string; readonly message: string }): string {
  return `resp_${Buffer.from(JSON.stringify([conversation, message])).toString("base64url")}`;
}

const place = z.tuple([z.string().min(1).max(200), z.string().min(1).max(200)]);

function placeOf(id: string): { readonly conversation: string; readonly behind: string } {
  const { data } = place.safeParse(jsonOf(String(Buffer.from(id.slice("resp_".length), "base64url"))));
  if (!data) throw new ClientError("not-found", "previous_response_id: this server made no response of that id.");
  return { conversation: data[0], behind: data[1] };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // No id of ours: the schema says so.
  }
}
