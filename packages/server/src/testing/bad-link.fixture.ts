import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A proxy address whose connections may break repeatedly. */
export interface Link {
  readonly address: string;
  readonly cuts: number;
  /** Sets the target; `undefined` while the server is away. */
  to(address: string | undefined): void;
  /** Breaks the current connections. */
  cut(): void;
}

/** A fixed proxy address that never breaks: no other process can take the port while the server is away. */
export const soundLink = (): Promise<Link> => linkThat(() => Number.POSITIVE_INFINITY);

/** A proxy that cuts connections after some bytes. The limit grows with each cut, so that all data arrives in the end. */
export const badLink = (): Promise<Link> => linkThat((cuts) => 1_500 + 400 * cuts);

async function linkThat(bears: (cuts: number) => number): Promise<Link> {
  const open = new Set<Socket>();
  let target: URL | undefined;
  let cuts = 0;
  const server = createServer((near) => {
    if (target === undefined) {
      near.destroy();
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    const cut = () => {
      near.destroy();
      far.destroy();
    };
    let bearable = bears(cuts);
    far.on("data", (bytes) => {
      bearable -= bytes.length;
      if (bearable >= 0) return;
      cuts++;
      cut();
    });
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", cut).on("close", () => {
        open.delete(socket);
        cut();
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts;
    },
    to(address) {
      target = address === undefined ? undefined : new URL(address);
    },
    cut() {
      for (const socket of open) socket.destroy();
    },
  };
}
