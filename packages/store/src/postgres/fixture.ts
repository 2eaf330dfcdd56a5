import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Store } from "@banyan/core";
import { afterAll, describe, onTestFinished } from "vitest";
import { testDatabase, whyNoPostgres } from "../testing/postgres-server.fixture.ts";
import { type PostgresStoreOptions, postgresStore } from "./index.ts";

/** Tests that need a database: where none can be started, they say so. */
export function describeWithPostgres(title: string, body: () => void): void {
  const why = whyNoPostgres === undefined ? "" : ` (skipped: ${whyNoPostgres})`;
  describe.skipIf(whyNoPostgres !== undefined)(`${title}${why}`, body);
}

/** A database for the tests of one file. */
export function ownDatabase(): { url(): Promise<string> } {
  const database = testDatabase();
  afterAll(async () => (await database).remove());
  return { url: async () => (await database).url };
}

/** A store that is closed when the test ends. */
export function storeAt(url: string, options: PostgresStoreOptions = {}): Store {
  const store = postgresStore(url, options);
  onTestFinished(() => store.close());
  return store;
}

/** What is between a store and its database. */
export interface Wire {
  readonly url: string;
  /** Pieces that came from clients so far. */
  readonly sent: number;
  /**
   * Breaks all connections at the piece of this number from clients: `before` it went on, or `after`, when the answer to it
   * has come and is not given. Later ones are as good as new.
   */
  cutAt(piece: number, when: "before" | "after"): void;
  /** Breaks all connections, and takes no new ones until what is returned is called. */
  down(): () => void;
  close(): void;
}

/** A proxy on this machine that can break connections. */
export async function wireTo(url: string): Promise<Wire> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let cut: { readonly piece: number; readonly when: "before" | "after" } | undefined;
  let sent = 0;
  let isDown = false;
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const server = createServer((client) => {
    if (isDown) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on("error", () => {})
        .on("close", () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    let isMuted = false;
    client.on("data", (data) => {
      sent++;
      const isHere = cut !== undefined && sent === cut.piece;
      if (isHere && cut?.when === "before") return breakAll();
      isMuted ||= isHere;
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      // The server has done what it was asked, and nobody hears of it.
      if (isMuted) breakAll();
      else client.write(data);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const via = new URL(url);
  via.port = String((server.address() as AddressInfo).port);
  return {
    url: via.href,
    get sent() {
      return sent;
    },
    cutAt(piece, when) {
      sent = 0;
      cut = { piece, when };
    },
    down() {
      isDown = true;
      breakAll();
      return () => {
        isDown = false;
      };
    },
    close() {
      breakAll();
      server.close();
    },
  };
}
