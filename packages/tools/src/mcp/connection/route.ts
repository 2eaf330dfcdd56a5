import { ClientCredentialsProvider, type OAuthClientProvider } from "@modelcontextprotocol/client";
import { DEFAULT_INHERITED_ENV_VARS } from "@modelcontextprotocol/client/stdio";
import type { ProcessEnvironment } from "../../sandbox/environment.ts";
import { pathWithout } from "../../sandbox/find-program.ts";
import type { ProgramLaunch } from "../../sandbox/index.ts";
import type { Journal } from "../../workspace/commands/journal.ts";
import type { RunningCommands } from "../../workspace/commands/process-family.ts";
import { type HttpEntry, isStdio, type McpServerEntry, type StdioEntry } from "../entries/entry.ts";
import { serverLaunch } from "../entries/package-runner.ts";
import { fillVariables } from "../entries/variables.ts";
import { Credentials } from "../oauth/credentials.ts";
import { type OpenAddress, SignIn } from "../oauth/sign-in.ts";
import type { ServerTransport } from "./connect.ts";
import { httpTransport } from "./http-transport.ts";
import type { ReconnectSettings } from "./lifeline.ts";
import { ProcessTransport } from "./process-transport.ts";
import { serverFetch } from "./server-fetch.ts";

/** The settings that all MCP servers share. */
export interface RouteOptions {
  readonly workspace: string;
  /** The user's environment. A server gets a few harmless variables and those that its entry names. */
  readonly env: ProcessEnvironment;
  /** The folder for credentials. Without it, no sign-in is possible. */
  readonly credentials?: string | undefined;
  /**
   * Opens an address for a user who waits. Without this function, a server that needs a sign-in gets the state
   * `needs-auth`.
   */
  readonly openAddress?: OpenAddress | undefined;
  /**
   * Returns advice on how to sign in to a server, such as a command. The advice follows the words "... wants you to
   * sign in: ". The default tells the developer to pass `openAddress`.
   */
  readonly howToSignIn?: ((server: string) => string) | undefined;
  /** Settings to reconnect to a lost server and to a lost stream of its messages. */
  readonly reconnect: Required<ReconnectSettings>;
  readonly wrap?: ((program: ProgramLaunch) => Promise<ProgramLaunch & Disposable>) | undefined;
}

/** The transport and the sign-in of one MCP server. */
export class Route implements AsyncDisposable {
  readonly #name: string;
  readonly #entry: McpServerEntry;
  readonly #around: RouteOptions;
  readonly #running: RunningCommands;
  readonly #journal: Journal;
  #signIn: Promise<SignIn> | undefined;

  constructor(name: string, entry: McpServerEntry, around: RouteOptions, running: RunningCommands, journal: Journal) {
    this.#name = name;
    this.#entry = entry;
    this.#around = around;
    this.#running = running;
    this.#journal = journal;
  }

  /** Returns how to reach the server. Rejects with an `McpError` if a variable is not set, or no port is free for the sign-in. */
  async find(onLost: () => void): Promise<ServerTransport> {
    const entry = fillVariables(this.#name, this.#entry, this.#around.env);
    return isStdio(entry) ? this.#toProgram(entry) : await this.#toAddress(entry, onLost);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const signIn = await this.#signIn?.catch(() => undefined);
    await signIn?.[Symbol.asyncDispose]();
  }

  #toProgram(entry: StdioEntry): ServerTransport {
    const { workspace, env: user, wrap } = this.#around;
    const environment = programEnvironment(user, entry.env ?? {});
    const start = { file: entry.command, ...serverLaunch(entry, workspace), environment, wrap };
    return { kind: "program", open: () => new ProcessTransport(start, this.#running, this.#journal) };
  }

  async #toAddress(entry: HttpEntry, onLost: () => void): Promise<ServerTransport> {
    const signIn = await this.#signInFor(entry);
    const provider = signIn ?? ownProvider(entry);
    const plain = serverFetch(entry);
    const fetch = signIn?.refreshing(plain) ?? plain;
    const { reconnect } = this.#around;
    return { kind: "address", signIn, open: () => httpTransport(entry, { fetch, provider, reconnect, onLost }) };
  }

  async #signInFor({ url, headers = {}, oauth }: HttpEntry): Promise<SignIn | undefined> {
    const {
      credentials,
      openAddress,
      howToSignIn = () => "open the servers with openAddress, so that a user can visit a page",
    } = this.#around;
    const hasHeader = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
    if (credentials === undefined || oauth?.grant === "client_credentials") return undefined;
    if (hasHeader && oauth === undefined) return undefined;
    const person = { open: openAddress, advice: howToSignIn(this.#name) };
    this.#signIn ??= SignIn.prepare(this.#name, oauth ?? {}, new Credentials(credentials, url), person);
    return await this.#signIn;
  }
}

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

/** Variables for language, time zone and temporary files; the client package lists the others. */
const HARMLESS = [...DEFAULT_INHERITED_ENV_VARS, "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ"];

/**
 * Returns the environment of a server program: a few harmless variables of the user, and those that the entry lists
 * (S10). Relative entries of `PATH` are removed, because the server could run programs of the workspace through them
 * (S16).
 */
function programEnvironment(user: ProcessEnvironment, listed: ProcessEnvironment): Record<string, string> {
  const environment: Record<string, string> = {};
  const own: ProcessEnvironment = { ...user, PATH: user.PATH && pathWithout([], user.PATH) };
  const entries = [...HARMLESS.map((name) => [name, own[name]] as const), ...Object.entries(listed)];
  // A value that begins with "()" is an exported shell function.
  for (const [name, value] of entries) if (value !== undefined && !value.startsWith("()")) environment[name] = value;
  return environment;
}
