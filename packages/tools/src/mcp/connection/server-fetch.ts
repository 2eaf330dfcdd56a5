import type { FetchLike } from "@modelcontextprotocol/client";
import { checkedLookup, checkLiteral, type NetworkReach, resolveBySystem } from "../../web/checked-lookup.ts";
import { isPublicAddress } from "../../web/public-address.ts";
import type { HttpEntry } from "../entries/entry.ts";

const PATIENCE = 30_000;
const LARGEST = 1024 * 1024;

const EMPTY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/**
 * Returns the `fetch` for one MCP server. The server chooses the sign-in address, and could choose any address. For
 * this reason, only the server's own origin gets the headers of the entry, and a server on the public internet cannot
 * cause requests to private machines (S11).
 */
export function serverFetch({ url, headers = {} }: HttpEntry, reach: NetworkReach = {}): FetchLike {
  const home = new URL(url);
  return async (input, init = {}) => {
    const address = new URL(input);
    if (address.origin === home.origin) return fetch(address, init);
    const others = new Headers(init.headers);
    // A header with another value may belong to the sign-in.
    for (const [name, value] of Object.entries(headers)) if (others.get(name) === value) others.delete(name);
    const elsewhere = { ...init, headers: others };
    return (await isPublic(home, reach)) ? fetchPublic(address, elsewhere, reach) : fetch(address, elsewhere);
  };
}

async function isPublic(
  { hostname }: URL,
  { resolve = resolveBySystem, allowAddress = isPublicAddress }: NetworkReach,
) {
  const addresses = await resolve(hostname.replace(/^\[|\]$/g, ""));
  return addresses.every((address) => allowAddress(address));
}

async function fetchPublic(address: URL, init: RequestInit, reach: NetworkReach): Promise<Response> {
  checkLiteral(address, reach);
  const undici = await import("undici");
  const agent = new undici.Agent({ connect: { lookup: checkedLookup(reach) } });
  const signal = AbortSignal.any([AbortSignal.timeout(PATIENCE), ...(init.signal ? [init.signal] : [])]);
  const { headers, method, body } = init;
  try {
    const answer = await undici.fetch(address, {
      method: method ?? "GET",
      headers: [...new Headers(headers)],
      // The client package sends only strings and forms, which both kinds of `fetch` accept.
      body: body as string | URLSearchParams | null,
      redirect: "manual",
      dispatcher: agent,
      signal,
    });
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of answer.body ?? []) {
      bytes += piece.length;
      if (bytes > LARGEST) throw new RangeError(`${address.href} sent more than ${LARGEST} bytes`);
      pieces.push(piece);
    }
    return new Response(EMPTY.has(answer.status) ? null : Buffer.concat(pieces), {
      status: answer.status,
      statusText: answer.statusText,
      headers: [...answer.headers],
    });
  } finally {
    await agent.destroy();
  }
}
