import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { EnvironmentVariables } from "@banyan/models";
import { pathLeadsInto } from "../places/project.ts";

/** The user's files that name package registries, relative to the home folder, and the lines that name them. */
const FILES: readonly (readonly [path: string, line: RegExp])[] = [
  [".npmrc", /^\s*(?:@[^:=\s]+:)?registry\s*=/],
  [".config/pip/pip.conf", /^\s*(?:extra-)?index-url\s*[=:]|^\s+https?:/],
  [".pip/pip.conf", /^\s*(?:extra-)?index-url\s*[=:]|^\s+https?:/],
  [".cargo/config.toml", /^\s*(?:index|registry)\s*=/],
  [".config/go/env", /^\s*GOPROXY\s*=/],
];

const VARIABLES = ["NPM_CONFIG_REGISTRY", "npm_config_registry", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "GOPROXY"];

/**
 * Returns the package registries that the user's own configuration names, as `host:port` (S38). Leaves out files that
 * commands can write.
 */
export function packageRegistries({
  home,
  env,
  writable,
}: {
  readonly home: string;
  readonly env: EnvironmentVariables;
  /** The folders in which commands write. */
  readonly writable: readonly string[];
}): readonly string[] {
  const lines = FILES.flatMap(([path, line]) =>
    readOwnFile(join(home, path), writable)
      .split("\n")
      .filter((each) => line.test(each)),
  );
  const texts = [...lines, ...VARIABLES.flatMap((name) => env[name] ?? [])];
  return [...new Set(texts.flatMap((text) => (text.match(/https?:\/\/[^\s"',|]+/g) ?? []).flatMap(addressOf)))];
}

function addressOf(url: string): readonly string[] {
  const parsed = URL.parse(url);
  if (!parsed) return [];
  return [`${parsed.hostname}:${parsed.port || (parsed.protocol === "https:" ? "443" : "80")}`];
}

/** A missing file has no lines. Neither has a link into a folder where commands write. */
function readOwnFile(path: string, writable: readonly string[]): string {
  try {
    const real = realpathSync(path);
    const isWritable = writable.some((folder) => existsSync(folder) && pathLeadsInto(realpathSync(folder), real));
    return isWritable ? "" : readFileSync(real, "utf8");
  } catch {
    return "";
  }
}
