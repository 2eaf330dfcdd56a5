import { type Answers, inputOf, numberBehind, piecesOf } from "./answers.ts";

/** The chat completions format. */
export const chat: Answers = {
  text(chunks, number = 0) {
    const pieces = piecesOf(chunks).map((content) => ({ content }));
    return answer(`text${number}`, [{ role: "assistant", content: "" }, ...pieces], "stop");
  },
  call(number) {
    const begin = { index: 0, id: `call_${number}`, type: "function", function: { name: "look", arguments: "" } };
    const deltas = inputOf(number).map((piece) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] }));
    return answer(
      `call${number}`,
      [{ role: "assistant", content: null, tool_calls: [begin] }, ...deltas],
      "tool_calls",
    );
  },
  lastCall: (request) => numberBehind('"tool_call_id":"call_', request),
};

/** Answers of a conversation need different ids: some clients treat the same id as a correction. */
function answer(id: string, deltas: readonly object[], reason: string): Buffer[] {
  const chunk = (choices: readonly object[], usage: object | null = null) => ({
    id: `chatcmpl-5f2c8e1a7b3d-${id}`,
    object: "chat.completion.chunk",
    created: 1763760000,
    model: "mock",
    system_fingerprint: "fp_5f2c8e1a7b",
    choices,
    usage,
  });
  const choice = (delta: object, finish: string | null = null) => ({
    index: 0,
    delta,
    logprobs: null,
    finish_reason: finish,
  });
  const events = [
    ...deltas.map((delta) => JSON.stringify(chunk([choice(delta)]))),
    JSON.stringify(chunk([choice({}, reason)])),
    JSON.stringify(
      chunk([], { prompt_tokens: 20, completion_tokens: deltas.length, total_tokens: 20 + deltas.length }),
    ),
    "[DONE]",
  ];
  return events.map((event) => Buffer.from(`data: ${event}\n\n`));
}
