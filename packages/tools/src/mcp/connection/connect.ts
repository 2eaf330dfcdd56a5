import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import {
  Client,
  type ClientOptions,
  type ElicitRequestParams,
  type ElicitResult,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type StreamableHTTPClientTransport,
  SUPPORTED_PROTOCOL_VERSIONS,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import manifest from "../../../package.json" with { type: "json" };
import { waitAtMostFor } from "../../workspace/commands/process-family.ts";
import { McpError, reasonOf } from "../entries/error.ts";
import type { SignIn } from "../oauth/sign-in.ts";
import { mendResults, type NoteOddity } from "./mended-result.ts";
import { ProcessTransport } from "./process-transport.ts";

/** Callbacks of a connection to an MCP server: answers to its questions, its log and its notifications. */
export interface ClientDuties {
  readonly workspace: string;
  elicit(params: ElicitRequestParams): Promise<ElicitResult>;
  /** Adds a line to the server's log: an entry that the server logged, or an error of the connection. */
  log(who: string, text: string): void;
  /** Called for each message that violated the protocol. Such a message was corrected or left out. */
  readonly odd: NoteOddity;
  /** Called when the server's tools, prompts or resources changed, or may have changed. */
  changed(what: "tools" | "prompts" | "resources" | "all"): void;
}

/** The kind of connection to a server. `open` makes a new transport for each attempt. */
export type ServerTransport =
  | { readonly kind: "program"; open(): ProcessTransport }
  | { readonly kind: "address"; open(): StreamableHTTPClientTransport; readonly signIn: SignIn | undefined };

/** A client that completed the handshake with its MCP server. */
export interface McpConnection {
  readonly client: Client;
  readonly closed: Promise<void>;
  /** True if the server keeps a session. The server can forget this session. */
  readonly hasSession: () => boolean;
  /** Runs an action. If the server demands a sign-in, waits for the user to sign in, and runs the action once more. */
  whenSignedIn<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T>;
  close(): Promise<void>;
}

const FAREWELL = 1_000;

interface Handshake {
  readonly mode: "legacy" | "auto";
  readonly version?: string;
}

const LEGACY: Handshake = { mode: "legacy" };
const AUTO: Handshake = { mode: "auto" };

const NEWER = "2026-07-28";

/** All supported versions of the Model Context Protocol. */
export const VERSIONS: readonly string[] = [NEWER, ...SUPPORTED_PROTOCOL_VERSIONS];

/**
 * Connects to an MCP server. Each exchange can take `timeout` milliseconds. At an address, the newer handshake is tried
 * first. A program gets the older handshake first, because all programs know it, and many exit at an unknown request.
 * With `version`, only that version is offered. Rejects with the error of the server or of the transport.
 */
export async function connectMcp(
  reach: ServerTransport,
  duties: ClientDuties,
  timeout: number,
  signal: AbortSignal,
  version?: string,
): Promise<McpConnection> {
  if (version !== undefined) {
    const { mode } = version < NEWER ? LEGACY : AUTO;
    return shakeHands(reach, { mode, version }, duties, timeout, signal);
  }
  const [first, second] = reach.kind === "program" ? [LEGACY, AUTO] : [AUTO, LEGACY];
  try {
    return await shakeHands(reach, first, duties, timeout, signal);
  } catch (error) {
    if (!speaksAnother(error)) throw error;
    try {
      return await shakeHands(reach, second, duties, timeout, signal);
    } catch (later) {
      throw first === LEGACY ? error : later;
    }
  }
}

function speaksAnother(error: unknown): boolean {
  if (ProtocolError.isInstance(error)) return true;
  return SdkError.isInstance(error) && error.code === SdkErrorCode.EraNegotiationFailed;
}

async function shakeHands(
  reach: ServerTransport,
  handshake: Handshake,
  duties: ClientDuties,
  timeout: number,
  signal: AbortSignal,
  isSignedIn = false,
): Promise<McpConnection> {
  signal.throwIfAborted();
  const transport = reach.open();
  mendResults(transport, duties.odd);
  const client = clientFor(duties, handshake);
  const over = new AbortController();
  const closed = new Promise<void>((resolve) => {
    client.onclose = () => {
      over.abort();
      resolve();
    };
  });
  try {
    await client.connect(transport, { timeout, signal });
  } catch (cause) {
    await transport.close();
    if (transport instanceof ProcessTransport) {
      throw isBroken(cause) && transport.ending !== undefined
        ? McpError.because(cause, "start", transport.ending)
        : cause;
    }
    const signIn = reach.kind === "address" ? reach.signIn : undefined;
    if (isSignedIn || signIn === undefined || !UnauthorizedError.isInstance(cause)) throw cause;
    await transport.finishAuth(await signIn.answer(signal));
    return shakeHands(reach, handshake, duties, timeout, signal, true);
  }
  keepListening(client, () => duties.changed("all"), over.signal).catch((error: unknown) =>
    duties.log("banyan", `its notifications of changes no longer arrive: ${reasonOf(error)}`),
  );
  const remote = transport instanceof ProcessTransport ? undefined : transport;
  return {
    client,
    closed,
    hasSession: () => remote?.sessionId !== undefined,
    async whenSignedIn(action, signal) {
      try {
        return await action();
      } catch (error) {
        const signIn = reach.kind === "address" ? reach.signIn : undefined;
        if (signIn === undefined || !UnauthorizedError.isInstance(error)) throw error;
        await remote?.finishAuth(await signIn.answer(signal));
        return await action();
      }
    },
    async close() {
      await waitAtMostFor(
        FAREWELL,
        remote?.terminateSession().catch(() => {}),
      );
      await client.close();
    },
  };
}

function isBroken(error: unknown): boolean {
  if (SdkError.isInstance(error)) return error.code !== SdkErrorCode.RequestTimeout;
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

function clientFor(duties: ClientDuties, { mode, version }: Handshake): Client {
  const changed = (what: Parameters<ClientDuties["changed"]>[0]) => ({
    autoRefresh: false,
    onChanged: () => duties.changed(what),
  });
  const options: ClientOptions = {
    capabilities: { roots: {}, elicitation: { form: {}, url: {} } },
    versionNegotiation: { mode },
    ...(version !== undefined && { supportedProtocolVersions: [version] }),
    listChanged: { tools: changed("tools"), prompts: changed("prompts"), resources: changed("resources") },
  };
  const client = new Client({ name: "banyan", version: manifest.version }, options);
  client.setRequestHandler("roots/list", () => ({
    roots: [{ uri: pathToFileURL(duties.workspace).href, name: "workspace" }],
  }));
  client.setRequestHandler("elicitation/create", ({ params }) => duties.elicit(params));
  client.setNotificationHandler("notifications/message", ({ params: { level, logger, data } }) => {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    duties.log(level, logger === undefined ? text : `${logger}: ${text}`);
  });
  client.onerror = (error) => duties.log("banyan", reasonOf(error));
  return client;
}

const PAUSE = { first: 500, most: 60_000 };

/**
 * Keeps a stream open on which a server of the newer protocol reports changes: the client package opens the stream only
 * once, and servers may end it at any time. Calls `onMissed` when a change may have been missed. Ends with `signal`.
 */
async function keepListening(client: Client, onMissed: () => void, signal: AbortSignal): Promise<void> {
  const filter = client.autoOpenedSubscription?.honoredFilter;
  if (filter === undefined) return;
  let stream = client.autoOpenedSubscription;
  try {
    for (let pause = PAUSE.first; ; pause = Math.min(pause * 2, PAUSE.most)) {
      if ((await stream?.closed) === "local") return;
      await sleep(pause, undefined, { signal, ref: false });
      stream = await client.listen(filter, { signal }).catch(() => undefined);
      if (stream === undefined) continue;
      pause = PAUSE.first;
      onMissed();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
