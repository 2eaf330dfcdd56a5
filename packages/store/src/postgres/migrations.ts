import { StoreError } from "@banyan/core";
import pg from "pg";
import type { DatabaseAddress } from "./address.ts";
import { type DatabaseConnection, inTransaction } from "./statement.ts";

/**
 * The steps from one version of the tables to the next. Each step runs in a transaction. A released step never changes,
 * and removes nothing that the previous version needs: nodes are replaced one by one.
 *
 * No index covers `seq`, `epoch` and the columns for lists, so an append updates the row in place. A label is JSON:
 * `["name","value"]`. Searches always check messages without `words`. `drives` counts resumptions after an owner's
 * death, until an owner closes the conversation. `running` and `waiting` are the living owner's last report.
 * `questions` is JSON of the open questions up to event `questions_seq`; after appends by nodes of an earlier version,
 * `questions_seq` is lower than `seq`.
 */
const STEPS: readonly string[] = [
  `
  CREATE TABLE banyan.nodes (
    id text PRIMARY KEY,
    program text NOT NULL,
    process integer NOT NULL,
    host text NOT NULL,
    address text,
    machine text,
    since timestamptz NOT NULL DEFAULT now(),
    lease_until timestamptz NOT NULL
  );
  CREATE TABLE banyan.conversations (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    epoch bigint NOT NULL DEFAULT 0,
    seq bigint NOT NULL DEFAULT 0,
    owner text,
    opened timestamptz,
    title text NOT NULL DEFAULT '',
    labels text[] NOT NULL DEFAULT '{}',
    created bigint NOT NULL DEFAULT 0,
    updated bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 70);
  CREATE INDEX conversations_owner ON banyan.conversations (owner) WHERE owner IS NOT NULL;
  CREATE INDEX conversations_labels ON banyan.conversations USING gin (labels);
  CREATE TABLE banyan.events (
    conversation bigint NOT NULL,
    seq bigint NOT NULL,
    epoch bigint NOT NULL,
    at bigint NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    crc bigint NOT NULL,
    PRIMARY KEY (conversation, seq)
  );
  CREATE TABLE banyan.messages (
    conversation bigint NOT NULL,
    message text COLLATE "C" NOT NULL,
    parent text COLLATE "C",
    seq bigint,
    at bigint,
    removed boolean,
    words tsvector,
    PRIMARY KEY (conversation, message)
  );
  CREATE INDEX messages_removed ON banyan.messages (conversation) WHERE removed;
  CREATE INDEX messages_words ON banyan.messages USING gin (words);
  CREATE INDEX messages_unindexed ON banyan.messages (conversation) WHERE seq IS NOT NULL AND words IS NULL;
  CREATE TABLE banyan.rights (
    conversation bigint PRIMARY KEY,
    rights text NOT NULL
  );
  `,
  `
  ALTER TABLE banyan.conversations ADD COLUMN drives integer NOT NULL DEFAULT 0;
  CREATE TABLE banyan.inbox (
    id text COLLATE "C" PRIMARY KEY,
    number bigint GENERATED ALWAYS AS IDENTITY,
    conversation text COLLATE "C" NOT NULL,
    body text NOT NULL,
    outcome text,
    at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX inbox_waiting ON banyan.inbox (conversation) WHERE outcome IS NULL;
  `,
  `
  ALTER TABLE banyan.conversations ADD COLUMN running integer NOT NULL DEFAULT 0;
  ALTER TABLE banyan.conversations ADD COLUMN waiting integer NOT NULL DEFAULT 0;
  `,
  `
  ALTER TABLE banyan.conversations ADD COLUMN questions text NOT NULL DEFAULT '[]';
  `,
  `
  ALTER TABLE banyan.conversations ADD COLUMN questions_seq bigint NOT NULL DEFAULT 0;
  `,
];

/** Creates or updates the tables, one node at a time. Rejects with `StoreError` if a newer program made the tables. */
export async function migrate({ ask }: DatabaseConnection, schema: string, address: DatabaseAddress): Promise<void> {
  const known = async () => {
    // The server's cached names may be older than the lock.
    const [row] = await ask(
      {
        text: `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1),
          EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'schema_version'),
          current_setting('server_encoding')`,
      },
      [schema],
    );
    return { hasSchema: row?.[0] === true, hasTables: row?.[1] === true, encoding: row?.[2] };
  };
  const { hasTables, encoding } = await known();
  if (encoding !== "UTF8")
    throw new StoreError(
      "unusable",
      `The database ${address.name} stores text as ${encoding}, which cannot store all characters. Create another database with createdb --encoding UTF8 --template template0.`,
    );
  if (hasTables && (await versionIn(ask, schema, address)) === STEPS.length) return;
  for (let version = -1; version < STEPS.length; ) {
    version = await inTransaction({ ask }, async () => {
      await ask({ text: "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))" }, [`banyan ${schema}`]);
      const now = await known();
      if (!now.hasSchema) await ask({ text: `CREATE SCHEMA ${pg.escapeIdentifier(schema)}` });
      if (!now.hasTables) await ask({ text: "CREATE TABLE banyan.schema_version (version integer NOT NULL)" });
      const at = await versionIn(ask, schema, address);
      if (at === STEPS.length) return at;
      for (const text of (STEPS[at] ?? "").split(";")) if (text.trim() !== "") await ask({ text });
      await ask({ text: "DELETE FROM banyan.schema_version" });
      await ask({ text: "INSERT INTO banyan.schema_version VALUES ($1)" }, [at + 1]);
      return at + 1;
    });
  }
}

async function versionIn(ask: DatabaseConnection["ask"], schema: string, { name }: DatabaseAddress): Promise<number> {
  const [row] = await ask({ text: "SELECT version FROM banyan.schema_version" });
  const version = Number(row?.[0] ?? 0);
  if (version > STEPS.length)
    throw new StoreError(
      "unusable",
      `The tables of ${name} (schema ${schema}) are of version ${version}, but this program knows only versions up to ${STEPS.length}. Update this program.`,
    );
  return version;
}
