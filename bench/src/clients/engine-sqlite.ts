import { sqliteStore } from "@banyan/store/sqlite";
import type { Format } from "../measure.ts";
import { temporaryDirectory } from "../stores/temporary.ts";
import type { Client } from "./client.ts";
import { driverOf, engineOver } from "./engine.ts";

/** Our engine with the durable log: every event is in SQLite, text after 250 ms at the latest. */
export function connect(address: string, format: Format): Client {
  return engineOver(driverOf(address, format), sqliteStore({ directory: temporaryDirectory() }));
}
