import type { Socket } from "node:net";
import type { Agent, buildConnector, Response } from "undici";
import { checkedLookup, checkLiteral, isLoopbackHost, type NetworkReach } from "./checked-lookup.ts";
import { WebError } from "./error.ts";

export interface GetOptions extends NetworkReach {
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly maxBytes: number;
  readonly accept?: string;
  /** Returns why an address must not be fetched; undefined if allowed. `from` redirects there, or is the same address. */
  whyNot?(address: URL, from: URL): string | undefined;
  mayFollow(address: URL): Promise<boolean>;
  /** Connects to a port of the loopback that commands share. Absent: loopback addresses are refused. */
  readonly connectLoopback?: ((port: number) => Socket | undefined) | undefined;
}

/** The response of a web server. */
export interface WebResponse {
  readonly address: URL;
  readonly status: number;
  readonly statusText: string;
  /** The media type in lower case, without parameters; empty when there is none. */
  readonly type: string;
  readonly charset: string | undefined;
  readonly length: number | undefined;
  readonly body: Buffer;
  /** The limit that cut the body short; undefined if it is complete. */
  readonly cut: "size" | "time" | undefined;
  /** Loaded bytes that follow the cut of a body. They show where the last character before the cut ends. */
  readonly behind: Buffer;
}

const MOST_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const TEXTS = "text/markdown, text/html;q=0.9, application/json;q=0.9, text/plain;q=0.8, */*;q=0.1";

/**
 * Fetches an address (S11): from public machines only, with at most five redirects, each checked like the first
 * address. Reads the body only if `wants` accepts the media type, up to the limits; a timeout keeps the bytes loaded so
 * far. Throws a `WebError`, or the signal's reason.
 */
export async function getAddress(
  start: URL,
  wants: (type: string) => boolean,
  options: GetOptions,
): Promise<WebResponse> {
  const { Agent, buildConnector, fetch } = await import("undici");
  const late = AbortSignal.timeout(options.timeout);
  const signal = AbortSignal.any([options.signal, late]);
  // One agent per call: no connection outlives the call, and none is reused that another check allowed.
  const agent: Agent = new Agent({
    connect: connector(buildConnector({ lookup: checkedLookup(options) }), options),
    pipelining: 1,
  });
  const headers = { "user-agent": "Banyan", accept: options.accept ?? TEXTS };
  let address = start;
  let from = start;
  try {
    for (let redirects = 0; ; redirects += 1) {
      const why = options.whyNot?.(address, from);
      if (why !== undefined) throw new WebError("rule", why);
      if (options.connectLoopback === undefined || !isLoopbackHost(address.hostname)) checkLiteral(address, options);
      const response = await fetch(address, { redirect: "manual", headers, dispatcher: agent, signal });
      const location = response.headers.get("location");
      if (!REDIRECTS.has(response.status) || location === null)
        return await readResponse(address, response, wants, late, options.maxBytes);
      await response.body?.cancel();
      const next = redirectTarget(address, location);
      if (redirects === MOST_REDIRECTS)
        throw new WebError(
          "redirect",
          `${start.href} redirects more than ${MOST_REDIRECTS} times; the last redirect is to ${location}.`,
        );
      if (!isSamePlace(address, next) && !(await options.mayFollow(next)))
        throw new WebError(
          "redirect",
          `${address.href} redirects to another host. To follow the redirect, fetch ${next.href}.`,
        );
      from = address;
      address = next;
    }
  } catch (error) {
    options.signal.throwIfAborted();
    throw explainFetchError(address, error, late.aborted ? options.timeout : undefined);
  } finally {
    await agent.destroy();
  }
}

/** Connects to loopback addresses inside the network of commands, and to other addresses as `outside` does. */
function connector(
  outside: buildConnector.connector,
  { connectLoopback }: Pick<GetOptions, "connectLoopback">,
): buildConnector.connector {
  return (target, callback) => {
    if (connectLoopback === undefined || !isLoopbackHost(target.hostname)) return outside(target, callback);
    const isEncrypted = target.protocol === "https:";
    const port = Number(target.port) || (isEncrypted ? 443 : 80);
    const httpSocket = connectLoopback(port);
    if (isEncrypted && httpSocket) return outside({ ...target, httpSocket }, callback);
    // undici is ready for the socket after this function returns.
    setImmediate(() =>
      httpSocket ? callback(null, httpSocket) : callback(noServerError(target.hostname, port), null),
    );
  };
}

function noServerError(host: string, port: number): WebError {
  return new WebError(
    "network",
    `No command of this conversation listens on port ${port}. ${host} is the network of these commands, not the user's machine. Start the server in the background first.`,
  );
}

async function readResponse(
  address: URL,
  response: Response,
  wants: (type: string) => boolean,
  late: AbortSignal,
  maxBytes: number,
): Promise<WebResponse> {
  const [type = "", ...parameters] = (response.headers.get("content-type") ?? "").split(";");
  const charset = parameters.map((one) => /^\s*charset\s*=\s*"?([\w:.-]+)/i.exec(one)?.[1]).find(Boolean);
  const length = response.headers.get("content-length");
  const answer = {
    address,
    status: response.status,
    statusText: response.statusText,
    type: type.trim().toLowerCase(),
    charset,
    length: length === null || !/^\d+$/.test(length) ? undefined : Number(length),
  };
  if (wants(answer.type)) return { ...answer, ...(await readBody(response, late, maxBytes)) };
  await response.body?.cancel();
  return { ...answer, body: NOTHING, cut: undefined, behind: NOTHING };
}

const NOTHING = Buffer.alloc(0);
/** No character is longer than this, in bytes. */
const CHARACTER = 256;

async function readBody(
  response: Response,
  late: AbortSignal,
  maxBytes: number,
): Promise<Pick<WebResponse, "body" | "cut" | "behind">> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of response.body ?? []) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes <= maxBytes) continue;
      const all = Buffer.concat(pieces);
      return {
        body: all.subarray(0, maxBytes),
        cut: "size",
        behind: all.subarray(maxBytes, maxBytes + CHARACTER),
      };
    }
  } catch (error) {
    if (!late.aborted || bytes === 0) throw error;
    return { body: Buffer.concat(pieces), cut: "time", behind: NOTHING };
  }
  return { body: Buffer.concat(pieces), cut: undefined, behind: NOTHING };
}

/** Explains a failure. undici wraps the errors that are thrown here, so search the causes. */
function explainFetchError(address: URL, error: unknown, timeout: number | undefined): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof WebError) return cause;
  if (timeout !== undefined)
    return new WebError("time", `${address.href} did not answer within ${timeout} ms.`, { cause: error });
  let deepest = error instanceof Error ? error : new Error(String(error));
  while (deepest.cause instanceof Error) deepest = deepest.cause;
  const why = "code" in deepest && deepest.message === "" ? String(deepest.code) : deepest.message;
  return new WebError("network", `${address.href} could not be fetched: ${why}.`, { cause: error });
}

/** Parses an address that Banyan is allowed to fetch, relative to `base`. Throws a `WebError`. */
export function readWebAddress(text: string, base?: URL): URL {
  const address = URL.canParse(text, base) ? new URL(text, base) : undefined;
  if (address === undefined)
    throw new WebError(
      "address",
      `${text} is not a web address. Write the full address, such as https://example.org/page.`,
    );
  if (address.protocol !== "http:" && address.protocol !== "https:")
    throw new WebError("address", `Only http: and https: addresses are fetched, not ${address.protocol} addresses.`);
  if (address.username !== "" || address.password !== "")
    throw new WebError("address", "Addresses with a user name or password are not fetched. Remove both.");
  return address;
}

/** Returns the target of a redirect. Throws a `WebError` if the target is not fetchable, or loses encryption. */
export function redirectTarget(from: URL, location: string): URL {
  const to = readWebAddress(location, from);
  if (from.protocol === "https:" && to.protocol === "http:")
    throw new WebError(
      "redirect",
      `${from.href} redirects to ${to.href}, which is not encrypted. The redirect was not followed.`,
    );
  return to;
}

/**
 * Returns whether permission for one address covers the other: if both have the same origin, or the same host and the
 * other one is encrypted.
 */
export function isSamePlace(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true;
  const haveUsualPorts = from.port === "" && to.port === "";
  return haveUsualPorts && from.hostname === to.hostname && to.protocol === "https:";
}
