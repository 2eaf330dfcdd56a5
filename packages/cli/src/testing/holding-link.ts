import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy with a fixed address and a changeable server, which can hold back commands. */
export interface HoldingLink extends AsyncDisposable {
  readonly address: string;
  /** Host and port for clients. */
  readonly host: string;
  /** Number of commands that are held back. */
  readonly held: number;
  /** Connects to this server from now on. */
  to(address: string): void;
  /** Holds back commands of this type until `release`. */
  hold(command: string): void;
  release(): void;
}

/** Opens a proxy without a server. */
export async function holdingLink(): Promise<HoldingLink> {
  const open = new Set<Socket>();
  let target: URL | undefined;
  let name: string | undefined;
  let held: (() => void)[] = [];
  const server = createServer((near) => {
    if (!target) return near.destroy();
    const far = connect(Number(target.port), target.hostname);
    const end = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", end).on("close", () => {
        open.delete(socket);
        end();
      });
    }
    far.pipe(near);
    const split = new Frames();
    near.on("data", (bytes: Buffer) => {
      for (const { raw, text } of split.push(bytes)) {
        const forward = () => void far.write(raw);
        if (name !== undefined && typeOf(text) === name) held.push(forward);
        else forward();
      }
    });
    return undefined;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address: `http://${host}`,
    host,
    get held() {
      return held.length;
    },
    to(address) {
      target = new URL(address);
    },
    hold(command) {
      name = command;
    },
    release() {
      name = undefined;
      for (const forward of held) forward();
      held = [];
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** Splits a client's bytes into the request's head and complete WebSocket frames (RFC 6455, 5.2). */
class Frames {
  #rest = Buffer.alloc(0);
  #isUpgraded = false;

  *push(bytes: Buffer): Generator<{ readonly raw: Buffer; readonly text: string }> {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (let end = this.#end(); end !== undefined; end = this.#end()) {
      const raw = this.#rest.subarray(0, end.at);
      this.#rest = this.#rest.subarray(end.at);
      const isText = ((raw[0] ?? 0) & 0x0f) === 1;
      yield { raw, text: isText && end.mask !== undefined ? unmasked(raw, end.mask) : "" };
    }
  }

  /** End of the first part, and offset of its mask; undefined while the part is incomplete. */
  #end(): { readonly at: number; readonly mask?: number } | undefined {
    const rest = this.#rest;
    if (!this.#isUpgraded) {
      const head = rest.indexOf("\r\n\r\n");
      this.#isUpgraded = head >= 0;
      return head < 0 ? undefined : { at: head + 4 };
    }
    const short = (rest[1] ?? 0) & 0x7f;
    const mask = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (rest.length < mask) return undefined;
    const length = short < 126 ? short : short === 126 ? rest.readUInt16BE(2) : Number(rest.readBigUInt64BE(2));
    const at = mask + 4 + length;
    return rest.length < at ? undefined : { at, mask };
  }
}

/** Type of a command, independent of the order of its fields. */
function typeOf(text: string): unknown {
  return text === "" ? undefined : (JSON.parse(text) as { readonly type?: unknown }).type;
}

function unmasked(frame: Buffer, mask: number): string {
  const payload = frame.subarray(mask + 4);
  return Buffer.from(payload.map((byte, index) => byte ^ (frame[mask + (index % 4)] ?? 0))).toString();
}
