import { StringDecoder } from "node:string_decoder";
import { type Dispatcher, Pool } from "undici";
import type { Format } from "../measure.ts";
import type { Client } from "./client.ts";
import type { Call, WireFormat } from "./formats/format.ts";
import { formats } from "./formats/index.ts";

/**
 * A fast client for one wire format that trusts the provider, as a developer would write it by hand. The client has an undici
 * pool, splits lines by hand, parses only the text of a text chunk, and encodes each message once. The client has no tree, log,
 * feed, limits, retries, argument checks or cancellation.
 */
export function connect(address: string, name: Format): Client {
  const { origin, pathname } = new URL(address);
  const pool = new Pool(origin);
  const format = formats[name];
  const request = {
    path: `${pathname}${format.path}`,
    method: "POST",
    headers: { "content-type": "application/json" },
  } as const;
  return {
    async open(look) {
      const head = JSON.stringify(format.head(look !== undefined)).slice(0, -1);
      let messages = "";
      return {
        async ask(question) {
          let characters = 0;
          messages += `${messages && ","}${JSON.stringify(format.question(question))}`;
          for (;;) {
            const body = `${head},"${format.list}":[${messages}]}`;
            const answer = new Answer(format);
            await new Promise<void>((resolve, reject) => {
              answer.onResponseEnd = resolve;
              answer.onResponseError = (_, error) => reject(error);
              pool.dispatch({ ...request, body }, answer);
            });
            const { text, calls } = answer;
            characters += text.length;
            for (const message of format.messages(text, calls, look)) messages += `,${JSON.stringify(message)}`;
            if (!look || calls.length === 0) return characters;
          }
        },
      };
    },
  };
}

/** An answer while it arrives. */
class Answer implements Dispatcher.DispatchHandler {
  text = "";
  readonly calls: Call[] = [];
  readonly #format: WireFormat;
  readonly #utf8 = new StringDecoder("utf8");
  #rest = "";
  onResponseEnd: () => void = () => {};
  onResponseError: (controller: unknown, error: Error) => void = () => {};

  constructor(format: WireFormat) {
    this.#format = format;
  }

  // undici requires these two methods.
  onRequestStart(): void {}
  onResponseStart(): void {}

  onResponseData(_: Dispatcher.DispatchController, bytes: Buffer): void {
    const read = this.#rest + this.#utf8.write(bytes);
    let start = 0;
    for (let end = read.indexOf("\n\n"); end >= 0; end = read.indexOf("\n\n", start)) {
      this.#take(read, start, end);
      start = end + 2;
    }
    this.#rest = read.slice(start);
  }

  #take(read: string, start: number, end: number): void {
    const { beforeText, afterText = '"}' } = this.#format;
    const at = read.indexOf(beforeText, start);
    if (at < 0 || at >= end) {
      this.#format.takeCalls(dataOf(read, start, end), this.calls);
      return;
    }
    const from = at + beforeText.length;
    const said = read.slice(from, read.indexOf(afterText, from));
    this.text += said.includes("\\") ? this.#format.textOf(dataOf(read, start, end)) : said;
  }
}

/** Returns the data of an event, which includes the event's type. */
function dataOf(read: string, start: number, end: number): string {
  return read.slice(read.indexOf("data: ", start) + 6, end);
}
