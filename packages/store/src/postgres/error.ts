import { StoreError } from "@banyan/core";
import type { DatabaseAddress } from "./address.ts";

// SQLSTATE, https://www.postgresql.org/docs/current/errcodes-appendix.html
const READ_ONLY = "25006";
const CANCELED = "57014";
const NO_SUCH_DATABASE = "3D000";
const NO_PRIVILEGE = "42501";
const NO_ROOM = ["53100", "53200"];
const REFUSED = ["28000", "28P01"];
/** The server is stopping, starting, out of connections, or resolved a deadlock: a later attempt may succeed. */
const PASSING = ["57P01", "57P02", "57P03", "57P05", "53300", "40001", "40P01", "58030"];
const CONNECTION = ["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "EAI_AGAIN"];
/** Messages of the driver about broken connections, which have no code. */
const BROKEN =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|timeout expired|Client was closed|Client has encountered a connection error)/;
/** TLS error codes of an untrusted certificate. */
const CERTIFICATE = /^(?:ERR_TLS_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|ERR_SSL_)/;

/** Returns whether a later attempt may succeed. The outcome of the failed attempt may be unknown. */
export function isTransient(error: unknown): boolean {
  const code = postgresCode(error);
  if (PASSING.includes(code) || code.startsWith("08") || CONNECTION.includes(code)) return true;
  return error instanceof Error && BROKEN.test(error.message);
}

/** Converts a database error to the error of the store's contract. The message contains no password. */
export function postgresStoreError(error: unknown, { name, user }: DatabaseAddress): StoreError {
  if (error instanceof StoreError) return error;
  const cause = { cause: error };
  const code = postgresCode(error);
  const why = error instanceof Error && error.message !== "" ? error.message : code;
  const unusable = (sentence: string) => new StoreError("unusable", sentence, cause);
  if (NO_ROOM.includes(code))
    return new StoreError(
      "full",
      `PostgreSQL at ${name} has no room left (${why}); free some space there and try again. Stored data is safe.`,
      cause,
    );
  if (REFUSED.includes(code))
    return unusable(`PostgreSQL at ${name} rejects the user ${user}; check the user and the password in the address.`);
  if (code === NO_SUCH_DATABASE)
    return unusable(`PostgreSQL at ${name} has no such database. Create it with createdb, or name another one.`);
  if (code === NO_PRIVILEGE)
    return unusable(
      `PostgreSQL at ${name} does not allow ${user} what is needed (${why}); grant that user CREATE on the database, or make it the owner of the schema.`,
    );
  if (code === READ_ONLY)
    return unusable(
      `PostgreSQL at ${name} accepts no writes now (${why}); name the primary server, or end its read-only state.`,
    );
  if (code === CANCELED)
    return unusable(`PostgreSQL at ${name} took too long for a statement (${why}); see what it is busy with.`);
  if (CERTIFICATE.test(code) || /does not support SSL/.test(why))
    return unusable(
      `The connection to PostgreSQL at ${name} cannot be secured (${why}); check sslmode and sslrootcert of the address, and the server's certificate.`,
    );
  if (code === "ENOTFOUND") return unusable(`There is no host of the name in ${name}; check the address.`);
  if (isTransient(error))
    return unusable(`PostgreSQL at ${name} does not answer (${why}); see that it runs and can be reached from here.`);
  return unusable(`PostgreSQL at ${name} cannot be used (${why}).`);
}

function postgresCode(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code === "string") return code;
  // Several addresses of one name were tried.
  return error instanceof AggregateError ? postgresCode(error.errors[0]) : "";
}
