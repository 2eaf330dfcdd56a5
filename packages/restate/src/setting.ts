import { isIP } from "node:net";

/**
 * Addresses at which Restate and the servers reach each other, and keys for Restate's requests.
 * See {@link readRestate}.
 */
export interface RestateSetting {
  /** Addresses of Restate that accept calls. If an address does not answer, the next one is tried. */
  readonly ingress: readonly string[];
  /** Address of Restate that accepts registrations. Undefined if the operator registers the servers. */
  readonly admin: string | undefined;
  /** Address of this server for Restate's calls. */
  readonly listen: { readonly host: string; readonly port: number };
  /** Address at which Restate reaches all servers: a name or a proxy. */
  readonly servers: string;
  /** Public keys of Restate. A request needs a signature by one of them. Without keys, no signature is checked. */
  readonly keys: readonly string[];
}

/**
 * An error because of which Restate cannot run turns. `message` is one sentence with advice.
 * @example
 * try {
 *   readRestate(process.env.RESTATE ?? "");
 * } catch (error) {
 *   if (error instanceof DriverError) console.error(error.message);
 * }
 */
export class DriverError extends Error {
  override readonly name = "DriverError";
}

const EXAMPLE = "http://127.0.0.1:8080";
const ADMIN_PORT = "9070";
const LISTEN = "127.0.0.1:9080";
const NAMES = ["admin", "listen", "servers", "key"];

/**
 * Parses Restate's address and its options (docs/many-machines.md). Throws `DriverError`.
 * @example readRestate("http://127.0.0.1:8080").listen // { host: "127.0.0.1", port: 9080 }
 */
export function readRestate(text: string): RestateSetting {
  const [addresses = "", query = ""] = text.split("?", 2);
  const ingress = addresses.split(",").map((address) => httpAddress("restate", address));
  const values = new URLSearchParams(query);
  for (const name of values.keys())
    if (!NAMES.includes(name)) throw new DriverError(`restate takes ${NAMES.join(", ")}, not ${name}.`);
  for (const name of ["admin", "listen", "servers"])
    if (values.getAll(name).length > 1) throw new DriverError(`restate takes ${name} once.`);
  const listen = readListenAddress(values.get("listen") ?? LISTEN);
  const keys = values.getAll("key");
  for (const key of keys)
    if (!/^publickeyv1_\w+$/.test(key))
      throw new DriverError(
        `restate's key must begin with publickeyv1_, as in Restate's log at its start. It is ${key}.`,
      );
  if (keys.length === 0 && !(listen.host === "::1" || listen.host.startsWith("127.")))
    throw new DriverError(
      `restate's listen ${listen.host} lets other machines drive turns: name Restate's key=publickeyv1_... too, or listen at 127.0.0.1.`,
    );
  const admin = values.get("admin");
  const servers = values.get("servers");
  const own = `http://${isIP(listen.host) === 6 ? `[${listen.host}]` : listen.host}:${listen.port}`;
  return {
    ingress,
    admin: admin === "none" ? undefined : admin === null ? adminOf(ingress[0]) : httpAddress("restate's admin", admin),
    listen,
    servers: servers === null ? own : httpAddress("restate's servers", servers),
    keys,
  };
}

function httpAddress(what: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.username !== "")
    throw new DriverError(`${what} must be an address such as ${EXAMPLE}, not ${text === "" ? "empty" : text}.`);
  return url.origin;
}

function adminOf(ingress = EXAMPLE): string {
  const url = new URL(ingress);
  url.port = ADMIN_PORT;
  return url.origin;
}

function readListenAddress(text: string): RestateSetting["listen"] {
  const [, host = "", port = ""] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  if (isIP(bare) === 0 || Number(port) < 1 || Number(port) > 65_535)
    throw new DriverError(`restate's listen must be an address and a port such as ${LISTEN}, not ${text}.`);
  return { host: bare, port: Number(port) };
}
