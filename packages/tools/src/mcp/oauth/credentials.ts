import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";
import type { ProcessEnvironment } from "../../sandbox/environment.ts";
import { isStdio, type McpServerEntry } from "../entries/entry.ts";
import { McpError } from "../entries/error.ts";
import { fillVariables } from "../entries/variables.ts";
import { lockFile } from "./file-lock.ts";

/**
 * Returns the stored credentials for the server of an entry; undefined if the server is a program. Throws an `McpError`
 * if a variable of the entry is not set.
 * @example
 * const entry = readEntry("library", { url: "https://mcp.example.org" });
 * await credentialsFor("credentials", "library", entry, process.env)?.remove();
 */
export function credentialsFor(
  folder: string,
  name: string,
  entry: McpServerEntry,
  env: ProcessEnvironment,
): Credentials | undefined {
  return isStdio(entry) ? undefined : new Credentials(folder, fillVariables(name, entry, env).url);
}

/** The stored result of a sign-in to an MCP server. See {@link Credentials}. */
export interface StoredCredentials {
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  /** Scopes that a call needs but that the tokens do not have. The next sign-in requests them. */
  readonly wanted?: string;
}

type CredentialsChange = { readonly [Key in keyof StoredCredentials]: StoredCredentials[Key] | undefined };

/**
 * The credentials for one server address, in a file that only the user can read (mode 0600). The key is the address and
 * not the server's name. A project that uses the same name for another server therefore gets no credentials. Each read
 * opens the file, because another process may have refreshed the credentials.
 * @example const { tokens } = await new Credentials("credentials", "https://mcp.example.org").read();
 */
export class Credentials {
  readonly #folder: string;
  readonly #file: string;
  readonly #address: string;

  constructor(folder: string, address: string) {
    this.#folder = folder;
    this.#address = address;
    this.#file = join(folder, `${createHash("sha256").update(address).digest("hex").slice(0, 32)}.json`);
  }

  /**
   * Runs `work` while no other code changes these credentials, in this or another process. `work` gets the stored
   * credentials, and a function that changes fields; `undefined` removes a field. Rejects if the signal aborts before
   * the start.
   */
  async exclusively<Result>(
    work: (stored: StoredCredentials, change: (change: CredentialsChange) => Promise<void>) => Result | Promise<Result>,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<Result> {
    using _lock = await lockFile(this.#lock, signal);
    return await work(await this.read(), (change) => this.#write(change));
  }

  get #lock(): string {
    return `${this.#file}.lock`;
  }

  /** Returns the stored credentials; empty without a file. Rejects with an `McpError` if the file is unreadable. */
  async read(): Promise<StoredCredentials> {
    try {
      return JSON.parse(await readFile(this.#file, "utf8"));
    } catch (cause) {
      if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return {};
      throw McpError.because(cause, "sign-in", `${this.#file} cannot be read. Remove this file and sign in again.`);
    }
  }

  /** Changes the given fields; `undefined` removes a field. Concurrent readers see the old or the new content. */
  change(change: CredentialsChange): Promise<void> {
    return this.exclusively((_, write) => write(change));
  }

  async #write(change: CredentialsChange): Promise<void> {
    const content = { address: this.#address, ...(await this.read()), ...change };
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const temporary = `${this.#file}.${randomUUID()}.tmp`;
    await using undo = new AsyncDisposableStack();
    undo.defer(() => rm(temporary, { force: true }));
    {
      await using handle = await open(temporary, "wx", 0o600);
      await handle.writeFile(`${JSON.stringify(content, undefined, 2)}\n`);
      // Without a sync, a power cut could leave an empty file under this name.
      await handle.sync();
    }
    await rename(temporary, this.#file);
  }

  /** Removes the credentials. Waits for a running refresh first, which would store them again. */
  async remove(): Promise<void> {
    using _lock = await lockFile(this.#lock, new AbortController().signal);
    await rm(this.#file, { force: true });
  }
}
