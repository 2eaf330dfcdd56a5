import { noRights, type Rights } from "@banyan/core/stores";
import { rightsFrom } from "../rights-text.ts";
import type { Database } from "./database.ts";
import type { Statement } from "./statement.ts";

/** What a person allowed in a conversation. All that is in the database was begun in it. Rejects with `StoreError`. */
export async function readRights(database: Database, number: number): Promise<Rights> {
  const [row] = await database.ask(READ, [number]);
  return row ? rightsFrom(String(row[0])) : noRights;
}

/** Whether they were written: a writer that another one has overtaken grants nothing. Rejects with `StoreError`. */
export async function writeRights(database: Database, number: number, epoch: number, rights: Rights): Promise<boolean> {
  return (await database.ask(WRITE, [number, epoch, JSON.stringify(rights)])).length > 0;
}

const READ: Statement = { text: "SELECT rights FROM banyan.rights WHERE conversation = $1" };

/** The row of the conversation is held until the end, so that no takeover comes between. */
const WRITE: Statement = {
  text: `
  WITH held AS (SELECT number FROM banyan.conversations WHERE number = $1 AND epoch = $2 FOR SHARE)
  INSERT INTO banyan.rights (conversation, rights) SELECT number, $3 FROM held
  ON CONFLICT (conversation) DO UPDATE SET rights = excluded.rights
  RETURNING conversation`,
};
