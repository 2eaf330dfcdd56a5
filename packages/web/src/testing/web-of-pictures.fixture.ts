import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { crc32, deflateSync } from "node:zlib";
import { readPicture } from "@banyan/tools/web";

/** A server that stands for one of the web, and what it was asked for. */
export interface WebOfPictures extends AsyncDisposable {
  /** As the page names it: host and port. */
  readonly host: string;
  readonly asked: readonly string[];
  /** Answers a path from now on. */
  has(path: string, answer: (response: ServerResponse) => void): void;
}

/** A PNG of so many pixels, all of them black. */
export function png(width: number, height: number): Buffer {
  const chunk = (name: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
    return Buffer.concat([word(data.length), body, word(crc32(body))]);
  };
  // Eight bits a pixel, in grey; each line begins with how it is filtered: not at all.
  const head = Buffer.concat([word(width), word(height), Buffer.from([8, 0, 0, 0, 0])]);
  const lines = deflateSync(Buffer.alloc((width + 1) * height));
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", lines), chunk("IEND", Buffer.alloc(0))]);
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A picture, 40 pixels wide and 20 high. */
export const WIDE = png(40, 20);

/** Gets pictures as a host does, but from servers of this machine, which stand for those of the web. */
export function pictureHere(url: string, signal: AbortSignal) {
  return readPicture(url, { signal, allowAddress: (address) => address === "127.0.0.1" });
}

/** A server without anything: what a test puts there, it has. */
export async function webOfPictures(): Promise<WebOfPictures> {
  const answers = new Map<string, (response: ServerResponse) => void>();
  const asked: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    asked.push(url);
    const answer = answers.get(url.split("?")[0] ?? "");
    if (answer) answer(response);
    else response.writeHead(404).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    has: (path, answer) => answers.set(path, answer),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
