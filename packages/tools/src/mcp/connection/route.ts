import { ClientCredentialsProvider, type OAuthClientProvider } from "@modelcontextprotocol/client";
import { DEFAULT_INHERITED_ENV_VARS } from "@modelcontextprotocol/client/stdio";
import type { Environment } from "../../sandbox/environment.ts";
import { pathWithout } from "../../sandbox/find-program.ts";
import type { Program } from "../../sandbox/index.ts";
import type { RunningCommands } from "../../workspace/commands/process-family.ts";
import { type HttpEntry, isStdio, type McpServerEntry, type StdioEntry } from "../entries/entry.ts";
import { startingPlace } from "../entries/package-runner.ts";
import { fillIn } from "../entries/variables.ts";
import { Credentials } from "../oauth/credentials.ts";
import { type OpenAddress, SignIn } from "../oauth/sign-in.ts";
import type { WayToServer } from "./connect.ts";
import { httpTransport } from "./http-transport.ts";
import type { Journal } from "./journal.ts";
import type { ReconnectSettings } from "./lifeline.ts";
import { ProcessTransport } from "./process-transport.ts";
import { serverFetch } from "./server-fetch.ts";

/** What all ways to servers have in common. */
export interface Surroundings {
  readonly workspace: string;
  /** The user's environment; a server gets what its entry names of it, and a few harmless variables. */
  readonly env: Environment;
  /** The folder for credentials; without one nobody signs in anywhere. */
  readonly credentials?: string | undefined;
  /**
   * Opens an address for a person who waits for it; without it a server that wants somebody to sign in is `needs-auth`.
   */
  readonly openAddress?: OpenAddress | undefined;
  /**
   * What a person does where they are, such as a command, when the server of this name wants them to sign in: messages
   * say it after "wants you to sign in: ". Without it they tell the author of the program about `openAddress`.
   */
  readonly howToSignIn?: ((server: string) => string) | undefined;
  /** How a server that was lost, or the stream of its messages, is looked for. */
  readonly reconnect: Required<ReconnectSettings>;
  /** Makes a server that is a program run in a sandbox. */
  readonly wrap?: ((program: Program) => Promise<Program & Disposable>) | undefined;
}

/** The way to one server, as its entry describes it. */
export class Route implements AsyncDisposable {
  readonly #name: string;
  readonly #entry: McpServerEntry;
  readonly #around: Surroundings;
  readonly #running: RunningCommands;
  readonly #journal: Journal;
  #signIn: Promise<SignIn> | undefined;

  constructor(name: string, entry: McpServerEntry, around: Surroundings, running: RunningCommands, journal: Journal) {
    this.#name = name;
    this.#entry = entry;
    this.#around = around;
    this.#running = running;
    this.#journal = journal;
  }

  /** How to get there. Rejects with an `McpError` when a variable is not set, or no port is free for signing in. */
  async find(onLost: () => void): Promise<WayToServer> {
    const entry = fillIn(this.#name, this.#entry, this.#around.env);
    return isStdio(entry) ? this.#toProgram(entry) : await this.#toAddress(entry, onLost);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const signIn = await this.#signIn?.catch(() => undefined);
    await signIn?.[Symbol.asyncDispose]();
  }

  #toProgram(entry: StdioEntry): WayToServer {
    const { workspace, env: user, wrap } = this.#around;
    const environment = programEnvironment(user, entry.env ?? {});
    const start = { file: entry.command, ...startingPlace(entry, workspace), environment, wrap };
    return { kind: "program", open: () => new ProcessTransport(start, this.#running, this.#journal) };
  }

  async #toAddress(entry: HttpEntry, onLost: () => void): Promise<WayToServer> {
    const signIn = await this.#signInFor(entry);
    const provider = signIn ?? ownProvider(entry);
    const fetch = serverFetch(entry);
    const { reconnect } = this.#around;
    return { kind: "address", signIn, open: () => httpTransport(entry, { fetch, provider, reconnect, onLost }) };
  }

  /** A header of the user's own is how they sign in. */
  async #signInFor({ url, headers = {}, oauth }: HttpEntry): Promise<SignIn | undefined> {
    const { credentials, openAddress, howToSignIn = throughAnAddress } = this.#around;
    const hasHeader = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
    if (credentials === undefined || oauth?.grant === "client_credentials") return undefined;
    if (hasHeader && oauth === undefined) return undefined;
    const person = { open: openAddress, advice: howToSignIn(this.#name) };
    this.#signIn ??= SignIn.prepare(this.#name, oauth ?? {}, new Credentials(credentials, url), person);
    return await this.#signIn;
  }
}

/** What to do where the program that uses this package says nothing of it. */
function throughAnAddress(): string {
  return "open the servers with openAddress, where somebody can go to a page";
}

/** The program signs in by itself, without a person. */
function ownProvider({ oauth }: HttpEntry): OAuthClientProvider | undefined {
  const { grant, clientId = "", clientSecret = "", issuer = "", scope } = oauth ?? {};
  if (grant !== "client_credentials") return undefined;
  return new ClientCredentialsProvider({
    clientId,
    clientSecret,
    expectedIssuer: issuer,
    clientName: "Banyan",
    ...(scope !== undefined && { scope }),
  });
}

/** Where programs find their language, time zone and temporary files; the client package lists the rest. */
const HARMLESS = [...DEFAULT_INHERITED_ENV_VARS, "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ"];

/**
 * What a server that is a program sees of the user's environment: a few harmless variables, and what its entry lists
 * (S10). Relative entries of `PATH` are not, since they would name folders of the workspace that the server starts in (S16).
 */
function programEnvironment(user: Environment, listed: Environment): Record<string, string> {
  const environment: Record<string, string> = {};
  const own: Environment = { ...user, PATH: user.PATH && pathWithout([], user.PATH) };
  const entries = [...HARMLESS.map((name) => [name, own[name]] as const), ...Object.entries(listed)];
  // A value that begins with "()" is a function of a shell, and no text.
  for (const [name, value] of entries) if (value !== undefined && !value.startsWith("()")) environment[name] = value;
  return environment;
}
