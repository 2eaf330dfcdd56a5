import { resolve } from "node:path";
import { expandHome } from "../workspace/files/named-path.ts";
import type { NetworkAccess } from "./network-access.ts";
import type { PlaceLimit } from "./place-limits.ts";

/** The folders of a failed command, and the limits of paths, for notes about the failure. */
export interface EdgeSurroundings {
  /** The folder of the command. */
  readonly folder: string;
  readonly home: string;
  placeLimit(path: string): PlaceLimit | undefined;
}

/** UTF-16 units at the end of an output that are searched for errors. */
const SEARCHED = 20_000;
const MOST = 3;

const NO_NETWORK =
  /could not resolve host|name or service not known|temporary failure in name resolution|name resolution failed|network is unreachable|no route to host|\b(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH)\b/i;
const DOCKER = /docker(?:\.sock| daemon)|podman(?:\.sock| socket)/i;
const AGENT = /authentication agent|SSH_AUTH_SOCK|ssh-agent/i;
const CANNOT_WRITE =
  /read-only file system|permission denied|operation not permitted|device or resource busy|\b(?:EROFS|EACCES|EPERM|EBUSY)\b/i;
const CANNOT_SEE = /no such file or directory|permission denied|\b(?:ENOENT|EACCES)\b/i;
const FAILS = new RegExp(
  `${CANNOT_WRITE.source}|${CANNOT_SEE.source}|no such device|connection refused|cannot connect`,
  "i",
);
const PATH = /(?<![\w.:/])~?\/[^\s'"`:,;()<>|]+/g;
/** The devices that the sandbox has. */
const DEVICES =
  /^\/dev\/(?:null|zero|full|random|urandom|tty|console|ptmx|core|fd|stdin|stdout|stderr|shm|pts)(?:\/|$)/;

/**
 * Returns sentences about limits of the sandbox that a failed command probably met (S40). They never lead to an offer
 * to run the command again, because a command can write any output.
 */
export function edgeNotes(output: string, around: EdgeSurroundings): readonly string[] {
  const lines = output.slice(-SEARCHED).split("\n");
  const notes = new Set<string>();
  for (const line of lines) {
    if (saysNoNetwork(line)) notes.add(NETWORK);
    if (DOCKER.test(line)) notes.add(socketNote("Docker and Podman"));
    if (AGENT.test(line)) notes.add(socketNote("the SSH agent"));
    const path = failingPath(line, around);
    if (path !== undefined) notes.add(pathNote(path, line, around));
  }
  notes.delete("");
  return [...notes].slice(0, MOST);
}

/**
 * Returns sentences about the paths at which a command failed. There is a sentence if the command itself contains the
 * path, the sandbox limits this path, and an error mentions it (S40). The output alone leads to no sentence.
 */
export function metPlaces(command: string, output: string, around: EdgeSurroundings): readonly string[] {
  const own = new Set(command.match(PATH)?.map((named) => pathOf(named, around)));
  const met = new Set<string>();
  for (const line of output.slice(-SEARCHED).split("\n")) {
    const path = failingPath(line, around);
    if (path === undefined || !own.has(path) || isDevice(path) || isSocket(path)) continue;
    const limit = metLimit(path, line, around);
    if (limit !== undefined) met.add(limit === "hidden" ? `The sandbox hides ${path}.` : `${path} is read-only.`);
  }
  return [...met].slice(0, MOST);
}

/** Returns whether an output contains an error of a program that has no network. */
export function saysNoNetwork(output: string): boolean {
  return NO_NETWORK.test(output.slice(-SEARCHED));
}

const NETWORK =
  "Probably the sandbox: it has no direct network and no DNS. Programs reach allowed addresses only through the proxy in $HTTPS_PROXY.";

function socketNote(of: string): string {
  return `Probably the sandbox: commands reach no local socket, so ${of} cannot be used.`;
}

function pathNote(path: string, line: string, around: EdgeSurroundings): string {
  if (isDevice(path)) return DEVICES.test(path) ? "" : `Probably the sandbox: it has no device ${path}.`;
  if (isSocket(path)) return socketNote(path);
  const limit = metLimit(path, line, around);
  if (limit === undefined) return "";
  return `Probably the sandbox: ${limit === "hidden" ? `it hides ${path}` : `${path} is read-only there`}.`;
}

/** Returns the path of which a line reports an error. */
function failingPath(line: string, around: EdgeSurroundings): string | undefined {
  // The program that reports the error may come first.
  const named = FAILS.test(line) ? line.match(PATH)?.at(-1) : undefined;
  return named === undefined ? undefined : pathOf(named, around);
}

/** Returns the limit of a path, if the error in a line fits the limit. */
function metLimit(path: string, line: string, { placeLimit }: EdgeSurroundings): PlaceLimit | undefined {
  const limit = placeLimit(path);
  return limit !== undefined && (limit === "hidden" ? CANNOT_SEE : CANNOT_WRITE).test(line) ? limit : undefined;
}

function pathOf(named: string, { folder, home }: EdgeSurroundings): string {
  return resolve(folder, expandHome(named.replace(/[.\])}]+$/, ""), home));
}

function isDevice(path: string): boolean {
  return path.startsWith("/dev/");
}

function isSocket(path: string): boolean {
  return /\.sock(?:et)?$/.test(path);
}

const PATHS_SHOWN = 5;

/**
 * Describes in one line what limits a command. The question whether the command may run shows this line (S41).
 * `denied`: paths that rules deny reading. A command outside a sandbox can read these paths (S42).
 */
export function confinementLine(
  sandbox: { readonly network: NetworkAccess; readonly writable: readonly string[] } | undefined,
  conversation: string,
  denied: readonly string[] = [],
): string {
  const list = new Intl.ListFormat("en-GB");
  const more = denied.length > PATHS_SHOWN ? [`${denied.length - PATHS_SHOWN} more paths`] : [];
  const paths = list.format([...denied.slice(0, PATHS_SHOWN), ...more]);
  if (!sandbox)
    return `Outside the sandbox${denied.length > 0 ? `: it can read ${paths}, although a rule denies reading` : ""}`;
  const addresses = sandbox.network.list(conversation).map(({ address }) => address);
  const network = addresses.length === 0 ? "no network" : `network only to ${list.format(addresses)}`;
  return `In the sandbox: ${network}, writes only in ${list.format(["this folder", ...sandbox.writable])}`;
}
