import { readFileSync } from "node:fs";
import { StoreError } from "@banyan/core";
import type { ClientConfig } from "pg";

/** A parsed database address. Messages can show `name` and `user`, but not the password. */
export interface DatabaseAddress {
  /** `host:port/database`, for messages. */
  readonly name: string;
  readonly user: string;
  readonly connect: Pick<ClientConfig, "host" | "port" | "user" | "password" | "database" | "ssl">;
}

/** The modes of encryption, with the names of PostgreSQL's own programs. */
const MODES = ["disable", "require", "verify-ca", "verify-full"];
const KNOWN = ["sslmode", "sslrootcert", "sslcert", "sslkey"];
const EXAMPLE = "postgres://user:password@host:5432/database?sslmode=verify-full";

/**
 * Returns whether a text is an address of a PostgreSQL database.
 * @example console.log(isPostgresUrl("postgres://127.0.0.1/banyan"));
 */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:/i.test(text);
}

/** Parses a database address. Throws a `StoreError` (`unusable`) whose message contains no password. */
export function readDatabaseAddress(text: string): DatabaseAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !isPostgresUrl(text)) throw addressError("it is not an address");
  const database = decodePercent(url.pathname.slice(1));
  if (database === "" || database.includes("/")) throw addressError("it names no database");
  if (url.username === "") throw addressError("it names no user");
  const given = url.searchParams;
  for (const name of given.keys())
    if (!KNOWN.includes(name))
      throw addressError(`"${name}" is not a known setting; known settings are ${KNOWN.join(", ")}`);
  const host = decodePercent(url.hostname.replace(/^\[(.*)\]$/, "$1")) || "localhost";
  const port = url.port === "" ? 5432 : Number(url.port);
  const user = decodePercent(url.username);
  return {
    name: `${host}:${port}/${database}`,
    user,
    connect: {
      host,
      port,
      user,
      database,
      ssl: encryption(given),
      ...(url.password === "" ? {} : { password: decodePercent(url.password) }),
    },
  };
}

function encryption(given: URLSearchParams): ClientConfig["ssl"] {
  const mode = given.get("sslmode") ?? "disable";
  if (!MODES.includes(mode)) throw addressError(`its sslmode must be one of ${MODES.join(", ")}`);
  if (mode === "disable") {
    if (given.size > (given.has("sslmode") ? 1 : 0))
      throw addressError("it names certificates, but its sslmode uses none");
    return false;
  }
  const certificate = (name: string) => {
    const file = given.get(name);
    return file === null ? undefined : readPasswordFile(name, file);
  };
  const [ca, cert, key] = ["sslrootcert", "sslcert", "sslkey"].map(certificate);
  return {
    // As in PostgreSQL's own programs, "require" accepts any certificate if no root certificate is given.
    rejectUnauthorized: mode !== "require" || ca !== undefined,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(mode !== "verify-full" && { checkServerIdentity: () => undefined }),
  };
}

function readPasswordFile(name: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw addressError(`its ${name}, ${file}, cannot be read (${code})`, cause);
  }
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not a percent-escape: take it literally.
    return text;
  }
}

function addressError(why: string, cause?: unknown): StoreError {
  return new StoreError(
    "unusable",
    `The address of the PostgreSQL database is invalid: ${why}. Write it as ${EXAMPLE}.`,
    cause === undefined ? {} : { cause },
  );
}
