import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/**
 * The files that start programs. A new line is a new way to run a program outside of the sandbox: explain why it is
 * safe.
 */
const STARTERS: Readonly<Record<string, string>> = {
  "packages/acp/src/connection/agent-process.ts":
    "agents of other programs, by a command of the user's settings or of ours; never one of the workspace",
  "packages/cli/src/mcp/connected-servers.ts": "what opens an address, or BROWSER; nothing of the working directory",
  "packages/cli/src/serve/serve.ts": "what opens an address; nothing of the working directory",
  "packages/cli/src/terminal/questions/clipboard.ts":
    "what the desktop has for its clipboard, by fixed words, when a person copies or pastes; nothing of the working directory",
  "packages/cli/src/terminal/full/prompt/external-editor.ts":
    "/bin/sh, with VISUAL or EDITOR; nothing of the working directory",
  "packages/host/src/permissions/hidden-paths.ts": "rg from outside of the workspace, without settings",
  "packages/host/src/programs/git.ts":
    "git, in the sandbox, for a difference that a person asks for; nothing that the repository names",
  "packages/host/src/hooks/run-hook.ts":
    "/bin/sh, with a hook of the user, or of a project by a command that a person agreed to",
  "packages/tools/src/sandbox/holder.ts": "mkfifo from outside of what commands write",
  "packages/tools/src/sandbox/loopback.ts":
    "nsenter and socat from outside of what commands write, without an environment",
  "packages/tools/src/sandbox/protected-places.ts": "rg from outside of what commands write, without settings",
  "packages/tools/src/sandbox/sandbox-process.ts": "bwrap, found likewise",
  "packages/tools/src/sandbox/running-sandbox.ts": "our own process",
  "packages/tools/src/sandbox/shared-networks.ts": "bwrap from outside of what commands write, with `cat` and socat",
  "packages/tools/src/web/read-html.ts": "our own process, without an environment",
  "packages/tools/src/workspace/commands/command.ts": "/bin/sh, in the sandbox, for a command that was judged",
  "packages/tools/src/workspace/commands/piped-program.ts":
    "MCP servers, by a command that a person agreed to; language servers, in the sandbox, in a folder that a person trusts",
  "packages/tools/src/workspace/search/search-ripgrep.ts": "rg from outside of the workspace, without settings",
};

const product = globSync("packages/*/src/**/*.{ts,tsx}", { cwd: root })
  .filter((file) => !/\.test\.ts$|\.fixture\.ts$|\/testing\//.test(file))
  .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));

test("S16: programs are started in few places, which are known", () => {
  const starters = product.filter(({ text }) => /["']node:child_process["']|["']child_process["']/.test(text));
  expect(starters.map(({ file }) => file).sort()).toEqual(Object.keys(STARTERS).sort());
});

test("S16: no code of the product runs git, whose settings in a folder name programs", () => {
  expect(product.length).toBeGreaterThan(500);
  const calls =
    /\b(?:spawn|spawnSync|execFile|execFileSync|exec|execSync|run)\(\s*["'`]git\b|from ["'](?:simple-git|isomorphic-git|dugite)["']/;
  expect(product.filter(({ text }) => calls.test(text)).map(({ file }) => file)).toEqual([]);
});
