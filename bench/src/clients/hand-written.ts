import { StringDecoder } from "node:string_decoder";
import { type Dispatcher, Pool } from "undici";
import type { Client, Look } from "./client.ts";

const TOOLS = [
  {
    type: "function",
    function: {
      name: "look",
      description: "Reads a file.",
      parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    },
  },
];

const CONTENT = '"delta":{"content":"';

/**
 * What somebody writes who needs this one wire format, wants it fast and trusts the provider: an undici pool, lines cut
 * by hand, of a chunk of text only the text parsed, each message encoded once. No tree, log, feed, limits, retries,
 * checks of arguments or cancellation.
 */
export function connect(address: string): Client {
  const { origin, pathname } = new URL(address);
  const pool = new Pool(origin);
  const request = {
    path: `${pathname}/chat/completions`,
    method: "POST",
    headers: { "content-type": "application/json" },
  } as const;
  return {
    async open(look) {
      const head = JSON.stringify({ model: "mock", stream: true, ...(look ? { tools: TOOLS } : {}) }).slice(0, -1);
      let messages = "";
      return {
        async ask(question) {
          let characters = 0;
          messages += `${messages && ","}${JSON.stringify({ role: "user", content: question })}`;
          for (;;) {
            const body = `${head},"messages":[${messages}]}`;
            const answer = new Answer();
            await new Promise<void>((resolve, reject) => {
              answer.onResponseEnd = resolve;
              answer.onResponseError = (_, error) => reject(error);
              pool.dispatch({ ...request, body }, answer);
            });
            characters += answer.text.length;
            messages += answer.encoded(look);
            if (!look || answer.calls.length === 0) return characters;
          }
        },
      };
    },
  };
}

interface Call {
  id: string;
  name: string;
  input: string;
}

/** One answer as it arrives. */
class Answer implements Dispatcher.DispatchHandler {
  text = "";
  readonly calls: Call[] = [];
  readonly #utf8 = new StringDecoder("utf8");
  #rest = "";
  onResponseEnd: () => void = () => {};
  onResponseError: (controller: unknown, error: Error) => void = () => {};

  // undici insists that these two are there.
  onRequestStart(): void {}
  onResponseStart(): void {}

  onResponseData(_: Dispatcher.DispatchController, bytes: Buffer): void {
    const read = this.#rest + this.#utf8.write(bytes);
    let start = 0;
    for (let end = read.indexOf("\n\n"); end >= 0; end = read.indexOf("\n\n", start)) {
      this.#take(read, start + 6, end);
      start = end + 2;
    }
    this.#rest = read.slice(start);
  }

  #take(read: string, start: number, end: number): void {
    const at = read.indexOf(CONTENT, start);
    if (at >= 0 && at < end) {
      const from = at + CONTENT.length;
      const to = read.indexOf('"}', from);
      const said = read.slice(from, to);
      this.text += said.includes("\\") ? this.#parsed(read.slice(start, end)) : said;
      return;
    }
    const data = read.slice(start, end);
    if (!data.includes('"tool_calls":[')) return;
    for (const { index, id, function: piece } of JSON.parse(data).choices[0].delta.tool_calls) {
      this.calls[index] ??= { id, name: piece.name, input: "" };
      this.calls[index].input += piece.arguments;
    }
  }

  #parsed(data: string): string {
    return JSON.parse(data).choices[0].delta.content;
  }

  /** The answer and the results of its calls, as the next request tells them. */
  encoded(look: Look | undefined): string {
    const calls = this.calls.map(({ id, name, input }) => ({
      id,
      type: "function",
      function: { name, arguments: input },
    }));
    const message = { role: "assistant", content: this.text, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
    let encoded = `,${JSON.stringify(message)}`;
    for (const { id, input } of this.calls) {
      encoded += `,${JSON.stringify({ role: "tool", tool_call_id: id, content: look?.(JSON.parse(input)) })}`;
    }
    return encoded;
  }
}
