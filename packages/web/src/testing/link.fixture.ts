import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy between browser and server, which a test can cut and mend. */
export interface Link extends AsyncDisposable {
  /** Host and port, for the browser. */
  readonly host: string;
  /** Sets the target. */
  to(address: string): void;
  /** Ends open connections and refuses new ones until `mend`. */
  cut(): void;
  /** Keeps connections open, old and new, but passes no data until `mend`. */
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
