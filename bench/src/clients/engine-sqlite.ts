import { openAIChat } from "@banyan/models";
import { sqliteStore } from "@banyan/store/sqlite";
import { temporaryDirectory } from "../stores/temporary.ts";
import type { Client } from "./client.ts";
import { engineOver } from "./engine.ts";

/** Our engine with the durable log: every event is in SQLite, text at the latest after 250 ms. */
export function connect(address: string): Client {
  const model = openAIChat({ id: "mock/mock", model: "mock", baseURL: address });
  return engineOver(model, sqliteStore({ directory: temporaryDirectory() }));
}
