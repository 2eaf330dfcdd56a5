import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ended, type Home, home } from "./testing/banyan.ts";

/** The program's sources, because a bundle has no module names. */
const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));

/** Records every loaded module, including those of Node. */
const RECORDER = `data:text/javascript,${encodeURIComponent(`
  import { appendFileSync } from "node:fs";
  import { registerHooks } from "node:module";
  registerHooks({ load(url, context, next) { appendFileSync(process.env.LOADED, url + "\\n"); return next(url, context); } });
`)}`;

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

async function loadedBy(args: readonly string[]) {
  const LOADED = join(place.workspace, "loaded");
  const running = spawn(process.execPath, ["--import", RECORDER, MAIN, ...args], {
    env: { ...place.env, LOADED },
    stdio: ["pipe", "pipe", "pipe"],
  });
  running.stdin.end();
  return { ...(await ended(running)), loaded: readFileSync(LOADED, "utf8").trim().split("\n") };
}

describe("T40: help and version", () => {
  const own = new URL("..", import.meta.url).href;

  test.each(["--version", "-V"])("%s loads nothing but the version", async (line) => {
    const { code, stdout, stderr, loaded } = await loadedBy([line]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const files = loaded.filter((url) => !url.startsWith("node:"));
    expect(files).toEqual([`${own}src/main.ts`, `${own}package.json`]);
  });

  test.each(["--help", "models --help", "conversations --help"])(
    "%s loads nothing but the reading of the command line",
    async (line) => {
      const { code, stdout, stderr, loaded } = await loadedBy(line.split(" "));
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(/^Usage: banyan /);
      const files = loaded.filter((url) => !url.startsWith("node:"));
      const ours = files
        .filter((url) => url.startsWith(own))
        .map((url) => fileURLToPath(url).slice(fileURLToPath(own).length));
      const reads =
        /^(package\.json|src\/(main|no-words|subcommands|program\/(agent-flags|flag-values|parse|prompt-arguments)|([a-z]+\/)?arguments)\.ts)$/;
      expect(ours.filter((file) => !reads.test(file))).toEqual([]);
      expect(ours).toContain("src/arguments.ts");
      // The table of number settings defines flags. It is data, and imports nothing.
      const rows = new URL("../host/src/settings/number-settings.ts", own).href;
      // The compile cache needs the user's folders.
      const places = new URL("../host/src/places/directories.ts", own).href;
      const others = files.filter((url) => !url.startsWith(own) && url !== rows && url !== places);
      expect(others.filter((url) => !url.includes("/node_modules/commander/"))).toEqual([]);
    },
  );

  test("a printed turn loads no terminal interface", async () => {
    const { loaded } = await loadedBy(["-p", "what can you do?", "--model", "demo/offline"]);
    expect(loaded.some((url) => url.endsWith("/print/print.ts"))).toBe(true);
    // Print mode uses a desk and parses actions like the terminal, but loads no user interface.
    const talk =
      /\/(commands\/(offered-commands|turn-step)|chat\/(talk\/own-desk|session\/talk-session|views\/exchange)|terminal\/pick)\.ts$/;
    const interfaces = /\/cli\/src\/(chat|terminal|commands)\/|^node:readline/;
    expect(loaded.filter((url) => interfaces.test(url) && !talk.test(url))).toEqual([]);
    const later =
      /\/node_modules\/(web-tree-sitter|undici|ws|pg|@(modelcontextprotocol|agentclientprotocol|opentelemetry|restatedev|ai-sdk)\/)/;
    expect(loaded.filter((url) => later.test(url))).toEqual([]);
  });
});
