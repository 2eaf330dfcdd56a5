import { pathToFileURL } from "node:url";
import type { Lab } from "../measure.ts";
import { AGENTS } from "../peers.ts";
import type { Client, Connect } from "./client.ts";

/** The clients of these sources. Each is loaded only in its own process. */
const clients: Readonly<Record<string, () => Promise<{ readonly connect: Connect }>>> = {
  socket: () => import("./socket.ts"),
  "hand-written": () => import("./hand-written.ts"),
  engine: () => import("./engine.ts"),
  "engine, SQLite": () => import("./engine-sqlite.ts"),
};

/** The names of all clients of the chat format except the bare socket: written by hand, ours, and the peers'. */
export const CLIENTS = [
  "hand-written",
  "undici",
  "fetch",
  "engine",
  "engine, SQLite",
  "engine, provider-package",
  "provider-package",
  ...AGENTS,
] as const;

/** Returns the client of this name, for a route of the mock provider. */
export async function connectTo(
  { provider, places, format = "chat" }: Lab,
  route: string,
  name: string,
): Promise<Client> {
  const place = places[name];
  const load = place === undefined ? clients[name] : () => import(pathToFileURL(place).href);
  if (!load) throw new Error(`There is no client "${name}".`);
  return (await load()).connect(`${provider}/${route}/v1`, format);
}
