import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { crc32, deflateSync } from "node:zlib";
import { readWebPicture } from "@banyan/tools/web";

/** A server that stands in for a web host, and its requests. */
export interface WebOfPictures extends AsyncDisposable {
  /** Host and port, as the page names them. */
  readonly host: string;
  readonly asked: readonly string[];
  /** Sets the answer for a path. */
  has(path: string, answer: (response: ServerResponse) => void): void;
}

/** A black PNG of the given size. */
export function png(width: number, height: number): Buffer {
  const chunk = (name: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
    return Buffer.concat([word(data.length), body, word(crc32(body))]);
  };
  // Eight bits per pixel, greyscale; each line begins with its filter type: none.
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

/** An image of 40 by 20 pixels. */
export const WIDE = png(40, 20);

/** Loads images like a host, but also from this machine, which stands in for web hosts. */
export function pictureHere(url: string, signal: AbortSignal) {
  return readWebPicture(url, { signal, allowAddress: (address) => address === "127.0.0.1" });
}

/** A server without content, to which tests add answers. */
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
