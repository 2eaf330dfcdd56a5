import { StoreError } from "@banyan/core";
import pg from "pg";
import type { Address } from "./address.ts";
import { type Connection, inTransaction } from "./statement.ts";

/**
 * What the tables became, step by step: number 1 is the first. They only go forward; each runs in a transaction of its own.
 * One that was released is never changed, and takes nothing away that the version before needs while nodes are replaced.
 *
 * `conversations.seq`, `epoch` and what lists need change with each append, and no index covers them: the row is updated in
 * place. A label is its JSON, as `["name","value"]`. A message without `words` is one that a search looks into in any case.
 * A conversation is its owner's while that node's lease lasts, by the clock of the database alone. `drives` counts how often it
 * was gone on with after its owner died, until one closes it in peace. `running` and `waiting` are what its owner said last, and
 * count while that lives. `questions` is JSON: the open questions as the log has them up to event `questions_seq`, whether anybody
 * has the conversation open or not. A node of a version before appends without noting questions: then that is behind `seq`.
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

/** Makes the tables, or brings them up to date, one node after the other. Rejects with `StoreError` for newer ones. */
export async function migrate({ ask }: Connection, schema: string, address: Address): Promise<void> {
  const known = async () => {
    // From the tables themselves: what the server remembers of names may be older than the lock.
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
      `The database ${address.name} keeps texts as ${encoding}, which lacks some characters. Create one with createdb --encoding UTF8 --template template0.`,
    );
  if (hasTables && (await versionIn(ask, schema, address)) === STEPS.length) return;
  for (let version = -1; version < STEPS.length; ) {
    version = await inTransaction({ ask }, async () => {
      await ask({ text: "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))" }, [`banyan ${schema}`]);
      const now = await known();
      // Who may not make a schema may still use one that is there.
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

async function versionIn(ask: Connection["ask"], schema: string, { name }: Address): Promise<number> {
  const [row] = await ask({ text: "SELECT version FROM banyan.schema_version" });
  const version = Number(row?.[0] ?? 0);
  if (version > STEPS.length)
    throw new StoreError(
      "unusable",
      `The tables of ${name} (schema ${schema}) are of version ${version}, and this program knows those up to ${STEPS.length}: a newer program made them. Use it here, too.`,
    );
  return version;
}
