import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import peers from "../peers.json" with { type: "json" };

const CLIENTS = fileURLToPath(new URL("peers/", import.meta.url));

/** The folder of installed peers, one folder each, in the user's cache: outside the workspace. */
export const PEERS = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "banyan-bench");

/** Agent libraries. Our engine is compared with the best of them. */
export const AGENTS = ["ai", "langchain", "mastra", "openai-agents", "pi-agent-core", "strands", "tanstack-ai"];

/** Terminal programs. */
export const COMMANDS = ["pi", "claude", "codex", "gemini", "opencode", "cline"];

/** Returns whether a name is a peer of `peers.json`, which has the versions. */
export function isPeer(name: string): name is keyof typeof peers {
  return name in peers;
}

/**
 * Installs a peer in the version of `peers.json` unless it is installed, and copies the clients next to it. Returns its
 * folder. Rejects with npm's error.
 */
export async function installed(name: keyof typeof peers): Promise<string> {
  const folder = join(PEERS, name);
  const manifest = join(folder, "package.json");
  const wanted = JSON.stringify({ private: true, type: "module", dependencies: peers[name] }, undefined, 2);
  // npm writes this file last.
  const isThere = existsSync(join(folder, "node_modules", ".package-lock.json"));
  if (!isThere || readFileSync(manifest, "utf8") !== wanted) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(manifest, wanted);
    const flags = ["--no-audit", "--no-fund", "--loglevel=error"];
    await promisify(execFile)("npm", ["install", "--prefix", folder, ...flags], { cwd: folder });
  }
  cpSync(CLIENTS, join(folder, "clients"), { recursive: true });
  return folder;
}
