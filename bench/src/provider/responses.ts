import { type Answers, inputOf, numberBehind, piecesOf } from "./answers.ts";

/** OpenAI's responses format. */
export const responses: Answers = {
  text(chunks, number = 0) {
    const id = `msg_5f2c8e1a7b3d${number}`;
    const at = { item_id: id, output_index: 0, content_index: 0 };
    const pieces = piecesOf(chunks);
    const text = pieces.join("");
    const part = (said: string) => ({ type: "output_text", text: said, annotations: [], logprobs: [] });
    const item = (status: string, content: readonly object[]) => {
      return { id, type: "message", status, role: "assistant", content };
    };
    return answer(
      `text${number}`,
      [
        { type: "response.output_item.added", output_index: 0, item: item("in_progress", []) },
        { type: "response.content_part.added", ...at, part: part("") },
        ...pieces.map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
        { type: "response.output_text.done", ...at, text, logprobs: [] },
        { type: "response.content_part.done", ...at, part: part(text) },
        { type: "response.output_item.done", output_index: 0, item: item("completed", [part(text)]) },
      ],
      item("completed", [part(text)]),
      chunks,
    );
  },
  call(number) {
    const id = `fc_5f2c8e1a7b3d${number}`;
    const at = { item_id: id, output_index: 0 };
    const pieces = inputOf(number);
    const item = (status: string, text: string) => {
      return { id, type: "function_call", status, call_id: `call_${number}`, name: "look", arguments: text };
    };
    const whole = item("completed", pieces.join(""));
    return answer(
      `call${number}`,
      [
        { type: "response.output_item.added", output_index: 0, item: item("in_progress", "") },
        ...pieces.map((delta) => ({ type: "response.function_call_arguments.delta", ...at, delta })),
        { type: "response.function_call_arguments.done", ...at, name: "look", arguments: pieces.join("") },
        { type: "response.output_item.done", output_index: 0, item: whole },
      ],
      whole,
      pieces.length,
    );
  },
  // The last result follows its call, which has the same id.
  lastCall: (request) => numberBehind('"call_id":"call_', request),
};

type Event = Readonly<Record<string, unknown>> & { readonly type: string };

/** Returns an answer of one item. */
function answer(id: string, events: readonly Event[], item: object, tokens: number): Buffer[] {
  const response = (status: string, more: object) => ({
    id: `resp_5f2c8e1a7b3d${id}`,
    object: "response",
    created_at: 1763760000,
    status,
    error: null,
    incomplete_details: null,
    model: "mock",
    parallel_tool_calls: true,
    ...more,
  });
  const usage = {
    input_tokens: 20,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 20 + tokens,
  };
  const all: readonly Event[] = [
    { type: "response.created", response: response("in_progress", { output: [], usage: null }) },
    ...events,
    { type: "response.completed", response: response("completed", { output: [item], usage }) },
  ];
  return all.map(({ type, ...rest }, index) => {
    const event = { type, sequence_number: index, ...rest };
    return Buffer.from(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`);
  });
}
