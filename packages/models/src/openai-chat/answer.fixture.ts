import type { ModelPart } from "@banyan/core/drivers";
import { chunk, eventOf } from "../testing/server.ts";
import { joined } from "../testing/sink.ts";
import { EventStreamDecoder } from "../wire/event-stream.ts";
import { ChatAnswer } from "./answer.ts";

export const endpoint = {
  id: "p/m",
  model: "m",
  format: "m",
  address: "http://h/v1",
  keyVariable: undefined,
  secrets: [],
};

/** The content of an answer that arrives in these pieces. */
export function decode(...pieces: readonly Buffer[]): ModelPart[] {
  const answer = new ChatAnswer(endpoint);
  const events = new EventStreamDecoder((data) => answer.data(data));
  const parts: ModelPart[] = [];
  for (const piece of pieces) {
    events.push(piece);
    parts.push(...answer.take());
  }
  events.end();
  answer.end();
  return joined([...parts, ...answer.take()]);
}

export function answer(...events: readonly (object | string)[]): ModelPart[] {
  return decode(Buffer.from(events.map(eventOf).join("")));
}

export function call(piece: object): object {
  return chunk({ tool_calls: [piece] });
}

/** The parts of a call with its input in one piece. */
export function wholeCall(index: number, id: string, tool: string, text: string): object[] {
  return [
    { type: "call", index, id, tool },
    ...(text === "" ? [] : [{ type: "call-input", index, text }]),
    { type: "call-end", index },
  ];
}
