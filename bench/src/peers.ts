import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import peers from "../peers.json" with { type: "json" };

const CLIENTS = fileURLToPath(new URL("peers/", import.meta.url));

/** Where peers are installed, each in a folder of its own: in the user's cache, so that the workspace knows nothing of them. */
export const PEERS = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "banyan-bench");

/** Libraries that run agents: of these, the best is what ours is compared with. */
export const AGENTS = ["ai", "langchain", "mastra", "openai-agents", "pi-agent-core", "strands", "tanstack-ai"];

/** Programs for a terminal. */
export const COMMANDS = ["pi", "claude", "codex", "gemini", "opencode", "cline"];

/** Whether this is a peer: a name in `peers.json`, which says the versions. */
export function isPeer(name: string): name is keyof typeof peers {
  return name in peers;
}

/**
 * Installs a peer at the versions of `peers.json`, unless it is there, and puts the client of a library beside it.
 * Answers its folder; rejects with what npm said.
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
