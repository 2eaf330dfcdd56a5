/** An SQL statement with tables in the schema `banyan`. A named statement is prepared once per connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/** A row as an array of its columns. */
export type Columns = readonly unknown[];

/** One connection for several statements. */
export interface DatabaseConnection {
  ask(statement: Statement, values?: readonly unknown[]): Promise<Columns[]>;
}

/** Runs the body in a transaction. */
export async function inTransaction<T>({ ask }: DatabaseConnection, body: () => Promise<T>): Promise<T> {
  await ask({ text: "BEGIN" });
  try {
    const result = await body();
    await ask({ text: "COMMIT" });
    return result;
  } catch (error) {
    // Without a connection, the server rolls back on its own. The first error is the important one.
    await ask({ text: "ROLLBACK" }).catch(() => {});
    throw error;
  }
}
