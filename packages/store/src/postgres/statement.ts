/** An SQL statement on tables in the schema `banyan`. With a name, each connection prepares it once. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/** The columns of a result row. */
export type Columns = readonly unknown[];

/** One connection to the database, for several statements. */
export interface DatabaseConnection {
  ask(statement: Statement, values?: readonly unknown[]): Promise<Columns[]>;
}

/** Runs `body` in a transaction. */
export async function inTransaction<T>({ ask }: DatabaseConnection, body: () => Promise<T>): Promise<T> {
  await ask({ text: "BEGIN" });
  try {
    const result = await body();
    await ask({ text: "COMMIT" });
    return result;
  } catch (error) {
    // Without a connection, the server rolls back. Callers need the first error.
    await ask({ text: "ROLLBACK" }).catch(() => {});
    throw error;
  }
}
