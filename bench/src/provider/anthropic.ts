import { type Answers, inputOf, numberBehind, piecesOf } from "./answers.ts";

/** Anthropic's messages format. */
export const anthropic: Answers = {
  text(chunks, number = 0) {
    const deltas = piecesOf(chunks).map((text) => ({ type: "text_delta", text }));
    return answer(`text${number}`, { type: "text", text: "" }, deltas, "end_turn");
  },
  call(number) {
    const block = { type: "tool_use", id: `toolu_${number}`, name: "look", input: {} };
    const deltas = inputOf(number).map((piece) => ({ type: "input_json_delta", partial_json: piece }));
    return answer(`call${number}`, block, deltas, "tool_use");
  },
  lastCall: (request) => numberBehind('"tool_use_id":"toolu_', request),
};

/** Returns an answer of one block. */
function answer(id: string, block: object, deltas: readonly object[], reason: string): Buffer[] {
  const message = {
    id: `msg_5f2c8e1a7b3d${id}`,
    type: "message",
    role: "assistant",
    model: "mock",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 20, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 },
  };
  const events = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "ping" },
    ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: deltas.length },
    },
    { type: "message_stop" },
  ];
  return events.map((event) => Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
}
