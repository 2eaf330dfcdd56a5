import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";
import type { Environment } from "../../sandbox/environment.ts";
import { isStdio, type McpServerEntry } from "../entries/entry.ts";
import { McpError } from "../entries/error.ts";
import { fillIn } from "../entries/variables.ts";

/**
 * What is kept of signing in to the server of an entry; nothing, when that is a program. Throws an `McpError` when a
 * variable of the entry is not set.
 */
export function credentialsFor(
  folder: string,
  name: string,
  entry: McpServerEntry,
  env: Environment,
): Credentials | undefined {
  return isStdio(entry) ? undefined : new Credentials(folder, fillIn(name, entry, env).url);
}

/** What is kept of signing in to a server. */
export interface StoredCredentials {
  /** As whom the program is registered with the authorization server. */
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  /** Scopes that a call asked for and the tokens do not have; the next sign-in asks for them. */
  readonly wanted?: string;
}

/**
 * The credentials for one address, in a file for the user alone (mode 0600). They belong to the address and not to the
 * name of a server, so that a project that gives a server the same name gets none of them. Every read is a fresh one:
 * another process may have refreshed them.
 */
export class Credentials {
  readonly #folder: string;
  readonly #file: string;
  readonly #address: string;

  /** `folder` is made when something is written. */
  constructor(folder: string, address: string) {
    this.#folder = folder;
    this.#address = address;
    this.#file = join(folder, `${createHash("sha256").update(address).digest("hex").slice(0, 32)}.json`);
  }

  /** Waits until nobody else renews these credentials; disposing of the answer lets others. */
  renewing(): Promise<AsyncDisposable> {
    return takeLease(`${this.#file}.lock`);
  }

  /** What there is; empty when there is nothing. Rejects with an `McpError` when the file is broken. */
  async read(): Promise<StoredCredentials> {
    try {
      return JSON.parse(await readFile(this.#file, "utf8"));
    } catch (cause) {
      if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return {};
      throw McpError.because(cause, "sign-in", `${this.#file} cannot be read. Remove it and sign in again.`);
    }
  }

  /** Changes what is named; `undefined` removes it. Readers see the old content or the new. */
  async change(
    change: { readonly [Key in keyof StoredCredentials]: StoredCredentials[Key] | undefined },
  ): Promise<void> {
    const content = { address: this.#address, ...(await this.read()), ...change };
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const temporary = `${this.#file}.${randomUUID()}.tmp`;
    await using undo = new AsyncDisposableStack();
    undo.defer(() => rm(temporary, { force: true }));
    {
      await using handle = await open(temporary, "wx", 0o600);
      await handle.writeFile(`${JSON.stringify(content, undefined, 2)}\n`);
      // Without this a power cut could leave the name with an empty file behind it.
      await handle.sync();
    }
    await rename(temporary, this.#file);
  }

  /** Forgets everything. */
  async remove(): Promise<void> {
    await rm(this.#file, { force: true });
  }
}

/** Milliseconds after which a lease is over, whether it was given back or not: its holder may have been killed. */
const TERM = 10_000;
/** Milliseconds between two looks at a lease that somebody else has. */
const PAUSE = 20;

/**
 * Waits until nobody else has the lease of this file, in this process or another, and takes it. Disposing of it gives
 * it back.
 */
async function takeLease(file: string): Promise<AsyncDisposable> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  for (;;) {
    try {
      await (await open(file, "wx", 0o600)).close();
      return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    const taken = await stat(file).catch(() => undefined);
    if (taken !== undefined && Date.now() - taken.mtimeMs > TERM) await rm(file, { force: true });
    else await sleep(PAUSE);
  }
}
