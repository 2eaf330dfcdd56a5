import type { Client, Connect } from "./client.ts";

/** Each client is loaded in its own process only. */
const clients: Readonly<Record<string, () => Promise<{ readonly connect: Connect }>>> = {
  socket: () => import("./socket.ts"),
  "hand-written": () => import("./hand-written.ts"),
  engine: () => import("./engine.ts"),
  "engine, SQLite": () => import("./engine-sqlite.ts"),
};

/** The client of this name, for the provider at an address. */
export async function connectTo(address: string, name: string): Promise<Client> {
  const load = clients[name];
  if (!load) throw new Error(`There is no client "${name}".`);
  return (await load()).connect(address);
}
