import { sqliteStore } from "@banyan/store/sqlite";
import { temporaryDirectory } from "../stores/temporary.ts";
import type { Client } from "./client.ts";
import { engine } from "./engine.ts";

/** Our engine with the durable log: every event is in SQLite, text at the latest after 250 ms. */
export function connect(address: string): Client {
  return engine(address, sqliteStore({ directory: temporaryDirectory() }));
}
