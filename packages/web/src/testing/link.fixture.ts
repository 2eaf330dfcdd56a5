import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** The way from a browser to a server; it can be cut, and mended. */
export interface Link extends AsyncDisposable {
  /** As a browser names it: host and port. */
  readonly host: string;
  /** Where it leads from now on. */
  to(address: string): void;
  /** Ends what is open, and refuses what comes until `mend`. */
  cut(): void;
  /** What is open stays so, but nothing comes through any more; nor on what is opened until `mend`. */
  hush(): void;
  mend(): void;
}

/** A link on a free port of this machine. */
export async function openLink(): Promise<Link> {
  const open = new Set<Socket>();
  let target: URL | undefined;
  let state: "open" | "cut" | "quiet" = "open";
  const server = createServer((near) => {
    if (state === "cut" || !target) return near.destroy();
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
    if (state === "open") near.pipe(far).pipe(near);
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    state = "cut";
    for (const socket of open) socket.destroy();
  };
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    to(address) {
      target = new URL(address);
    },
    cut,
    hush() {
      state = "quiet";
      for (const socket of open) socket.unpipe();
    },
    mend() {
      state = "open";
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
