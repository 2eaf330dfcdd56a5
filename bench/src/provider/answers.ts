/** Pieces of a text of about the length of tokens; a few need escapes, or more than one byte for a character. */
const PIECES = [
  " the",
  " answer",
  " is",
  " a",
  " tree",
  ",",
  " whose",
  " branches",
  " put",
  " down",
  ' "roots"',
  ".\n",
  " Déjà",
  " vu",
];

/** The text that an answer of so many chunks says. */
export function textOf(chunks: number): string {
  return Array.from({ length: chunks }, (_, index) => PIECES[index % PIECES.length]).join("");
}

/** The events of an answer that says a text in so many chunks; the number tells it from others of its conversation. */
export function textAnswer(chunks: number, number = 0): Buffer[] {
  const pieces = Array.from({ length: chunks }, (_, index) => ({ content: PIECES[index % PIECES.length] }));
  return answer(`text${number}`, [{ role: "assistant", content: "" }, ...pieces], "stop");
}

/** The events of an answer that calls the tool `look`, its arguments in pieces. */
export function callAnswer(number: number): Buffer[] {
  const begin = { index: 0, id: `call_${number}`, type: "function", function: { name: "look", arguments: "" } };
  const pieces = ['{"', "path", '":"', "src/chapter-", `${number}.md`, '"}'];
  const deltas = pieces.map((piece) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] }));
  return answer(`call${number}`, [{ role: "assistant", content: null, tool_calls: [begin] }, ...deltas], "tool_calls");
}

/** The number of the last call whose result is in a request; 0 when there is none. */
export function lastCall(request: Buffer): number {
  const mark = '"tool_call_id":"call_';
  const at = request.lastIndexOf(mark);
  return at < 0 ? 0 : Number.parseInt(request.toString("latin1", at + mark.length, at + mark.length + 9), 10);
}

/** No two answers of a conversation may have one id: some clients take the later for a correction of the earlier. */
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
