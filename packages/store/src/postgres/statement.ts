/** A statement, in which the tables stand in the schema `banyan`. One with a name is prepared once for each connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/** A row as an array of its columns. */
export type Columns = readonly unknown[];

/** One connection, in the hands of whoever needs several statements on it. */
export interface Connection {
  ask(statement: Statement, values?: readonly unknown[]): Promise<Columns[]>;
}

/** All that the body does on a connection, or nothing. */
export async function inTransaction<T>({ ask }: Connection, body: () => Promise<T>): Promise<T> {
  await ask({ text: "BEGIN" });
  try {
    const result = await body();
    await ask({ text: "COMMIT" });
    return result;
  } catch (error) {
    // Where the connection is gone, the server rolls back by itself; the first error is the one that counts.
    await ask({ text: "ROLLBACK" }).catch(() => {});
    throw error;
  }
}
