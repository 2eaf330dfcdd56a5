import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** An address that leads to another one by way of a link that breaks again and again. */
export interface BadLink {
  readonly address: string;
  readonly cuts: number;
  /** Where it leads from now on. */
  to(address: string): void;
}

/** A link that breaks after so many bytes; each connection bears some more, so that what is on its way arrives at last. */
export async function badLink(): Promise<BadLink> {
  const open = new Set<Socket>();
  let target: URL | undefined;
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(Number(target?.port), target?.hostname);
    const cut = () => {
      near.destroy();
      far.destroy();
    };
    let bearable = 1_500 + 400 * cuts;
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
      target = new URL(address);
    },
  };
}
