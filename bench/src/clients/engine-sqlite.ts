import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStore } from "@banyan/store/sqlite";
import type { Client } from "./client.ts";
import { engine } from "./engine.ts";

/** Our engine with the durable log: every event is in SQLite, text at the latest after 250 ms. */
export function connect(address: string): Client {
  const directory = mkdtempSync(join(tmpdir(), "banyan-bench-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  return engine(address, sqliteStore({ directory }));
}
