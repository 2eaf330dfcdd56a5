import { relative } from "node:path";
import { protectedPart } from "../workspace/files/protected-paths.ts";
import type { SandboxPlan } from "./messages.ts";
import { isPathWithin } from "./protected-places.ts";

/** A limit of a path in the sandbox. */
export type PlaceLimit = "hidden" | "read-only";

/** Returns the limit that a sandbox sets for an absolute path, or undefined if programs may read and write there. */
export function placeLimit(
  path: string,
  {
    writable,
    repositories,
    caches,
    writeDenied,
    readDenied,
    readable,
  }: Omit<SandboxPlan, "domains" | "isProxied" | "programs">,
): PlaceLimit | undefined {
  const written = deepest(path, [...writable, ...repositories, ...caches]);
  const hidden = deepest(path, readDenied);
  if (hidden !== "" && hidden.length > Math.max(written.length, deepest(path, readable).length)) return "hidden";
  if (written === "" || deepest(path, writeDenied).length >= written.length) return "read-only";
  return isObeyed(relative(written, path)) ? "read-only" : undefined;
}

/** The longest of the places around a path; empty if there is none. */
function deepest(path: string, places: readonly string[]): string {
  return places.reduce((best, place) => (isPathWithin(place, path) && place.length > best.length ? place : best), "");
}

/** In a repository, only the files that git obeys are read-only. */
function isObeyed(path: string): boolean {
  const part = protectedPart(path);
  if (part === undefined) return false;
  return (
    !/(?:^|\/)\.git$/i.test(part) || /\.git(?:$|\/(?:config|hooks|commondir|config\.worktree)(?:$|\/))/i.test(path)
  );
}
