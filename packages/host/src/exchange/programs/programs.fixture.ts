import { readFileSync } from "node:fs";
import { type ConversationState, emptyConversation, reduce } from "@banyan/core";
import { expect } from "vitest";
import { redactor } from "../../redaction/redactor.ts";
import { conversationOf, fromJson, type PastSession, toJson } from "../index.ts";

// The programs themselves wrote the sessions in `fixtures`, with mocked providers: Claude Code 2.1.197, Codex 0.169.0, pi 0.74.2
// and opencode 1.18.33. All sessions have the same content: a file written and edited, a failed command, two parallel calls, a
// sub-agent (if supported), a step back, a refusal of the provider, a compaction and a fork. Paths and the programs' instructions
// were removed.

export const REDACT = redactor({ env: {} });

/** Writes the database from which the rows were exported. */
export function writeDatabase(file: string, rows: string): void {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  using database = new DatabaseSync(file);
  const tables: Record<string, Record<string, unknown>[]> = JSON.parse(readFileSync(rows, "utf8"));
  for (const [table, all] of Object.entries(tables)) {
    const columns = [...new Set(all.flatMap((row) => Object.keys(row)))];
    database.exec(`CREATE TABLE ${table} (${columns.join(", ")})`);
    const insert = database.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => "?").join(", ")})`);
    for (const row of all)
      insert.run(
        ...columns.map((column) => {
          const value = row[column] ?? null;
          return typeof value === "object" && value !== null
            ? JSON.stringify(value)
            : (value as string | number | null);
        }),
      );
  }
}

export function stateOf(session: PastSession): ConversationState {
  const { events } = fromJson(toJson(conversationOf(session, REDACT).events));
  const state = emptyConversation();
  for (const event of events) expect(reduce(state, event).skipped).toBeUndefined();
  return state;
}
