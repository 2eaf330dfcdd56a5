import { StoreError } from "@banyan/core";
import type { DatabaseAddress } from "./address.ts";

// SQLSTATE, https://www.postgresql.org/docs/current/errcodes-appendix.html
const READ_ONLY = "25006";
const CANCELED = "57014";
const NO_SUCH_DATABASE = "3D000";
const NO_PRIVILEGE = "42501";
const NO_ROOM = ["53100", "53200"];
const REFUSED = ["28000", "28P01"];
/** The server is starting, stopping, out of connections, or resolved a deadlock. */
const PASSING = ["57P01", "57P02", "57P03", "57P05", "53300", "40001", "40P01", "58030"];
const CONNECTION = ["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "EAI_AGAIN"];
/** Messages of the driver about broken connections. These errors have no code. */
const BROKEN =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|timeout expired|Client was closed|Client has encountered a connection error)/;
const CERTIFICATE = /^(?:ERR_TLS_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|ERR_SSL_)/;

/** Returns whether another attempt could succeed. The failed attempt may have had an effect. */
export function isTransient(error: unknown): boolean {
  const code = postgresCode(error);
  if (PASSING.includes(code) || code.startsWith("08") || CONNECTION.includes(code)) return true;
  return error instanceof Error && BROKEN.test(error.message);
}

/** Converts a database error to a `StoreError` whose message contains no password. */
export function postgresStoreError(error: unknown, { name, user }: DatabaseAddress): StoreError {
  if (error instanceof StoreError) return error;
  const cause = { cause: error };
  const code = postgresCode(error);
  const why = error instanceof Error && error.message !== "" ? error.message : code;
  const unusable = (sentence: string) => new StoreError("unusable", sentence, cause);
  if (NO_ROOM.includes(code))
    return new StoreError(
      "full",
      `PostgreSQL at ${name} has no disk space left (${why}); free some space on that server and try again. Stored data is safe.`,
      cause,
    );
  if (REFUSED.includes(code))
    return unusable(`PostgreSQL at ${name} rejects the user ${user}; check the user and the password in the address.`);
  if (code === NO_SUCH_DATABASE)
    return unusable(
      `PostgreSQL at ${name} has no such database. Create the database with createdb, or choose another one.`,
    );
  if (code === NO_PRIVILEGE)
    return unusable(
      `PostgreSQL at ${name} denies user ${user} a needed permission (${why}); grant that user CREATE on the database, or make it the owner of the schema.`,
    );
  if (code === READ_ONLY)
    return unusable(
      `PostgreSQL at ${name} accepts no writes now (${why}); use the address of the primary server, or make this server writable.`,
    );
  if (code === CANCELED)
    return unusable(
      `PostgreSQL at ${name} took too long for a statement (${why}); check which statements keep the server busy.`,
    );
  if (CERTIFICATE.test(code) || /does not support SSL/.test(why))
    return unusable(
      `The connection to PostgreSQL at ${name} cannot be secured (${why}); check sslmode and sslrootcert of the address, and the server's certificate.`,
    );
  if (code === "ENOTFOUND") return unusable(`No host was found for ${name}; check the address.`);
  if (isTransient(error))
    return unusable(
      `PostgreSQL at ${name} does not answer (${why}); check that the server runs and that this machine can reach it.`,
    );
  return unusable(`PostgreSQL at ${name} cannot be used (${why}).`);
}

function postgresCode(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code === "string") return code;
  return error instanceof AggregateError ? postgresCode(error.errors[0]) : "";
}
