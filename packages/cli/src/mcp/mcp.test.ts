import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { TrustRecord } from "@banyan/host";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Ended, type Home, home } from "../testing/banyan.ts";
import { GuardedServer } from "./guarded-server.fixture.ts";

const PROGRAM = [process.execPath, fileURLToPath(new URL("./program-server.fixture.ts", import.meta.url))];

let place: Home;
let settings: string;
beforeEach(() => {
  place = home();
  settings = join(place.env.BANYAN_HOME ?? "", "config", "settings.json");
});
afterEach(() => place[Symbol.dispose]());

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return banyan(place, ["mcp", ...args], { env });
}

async function done(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

async function refused(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  return stderr;
}

function servers(): object {
  return JSON.parse(readFileSync(settings, "utf8")).mcpServers;
}

function put(file: string, content: object): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(content));
}

describe("banyan mcp add and remove", () => {
  test("B47: write to the settings of the user, and keep what else is in them", async () => {
    put(settings, { model: "ollama/a" });
    expect(await done("add", "-e", `KEY=\${KEY}`, "files", "npx", "-y", "server", ".")).toBe(
      `Added files to ${settings}. To test the server: banyan mcp test files\n`,
    );
    expect(servers()).toEqual({ files: { command: "npx", args: ["-y", "server", "."], env: { KEY: `\${KEY}` } } });
    expect(await done("remove", "files")).toBe(`files was removed from ${settings}.\n`);
    expect(JSON.parse(readFileSync(settings, "utf8"))).toEqual({ model: "ollama/a" });
    expect(await done("list")).toContain("No MCP servers are set up.");
    writeFileSync(join(place.workspace, "server.js"), "");
    expect((await run(["add", "files", "node", "server.js"])).stderr).toMatch(
      /^banyan: banyan looks for server\.js in the directory in which you start banyan\./,
    );
  });

  test.each([
    [
      ["add", "a", "https://example.com/", "more"],
      'The entry of the MCP server "a" is invalid: args: expected no args together with a url.',
    ],
    [
      ["add", "taken", "x"],
      'There is an MCP server "taken" already. Remove that server first, or choose another name.',
    ],
    [["remove", "tkaen"], 'There is no MCP server "tkaen" in your settings. Did you mean taken?'],
    [["test", "other"], 'There is no MCP server "other" here. There are: taken.'],
    [["login", "taken"], "taken is a program and needs no sign-in."],
  ])("B47: refuse %j with exit code 2, and change nothing", async (args, message) => {
    put(settings, { mcpServers: { taken: { command: "x" } } });
    expect(await refused(...args)).toContain(`banyan: ${message}`);
    expect(servers()).toEqual({ taken: { command: "x" } });
  });
});

describe("banyan mcp list", () => {
  test("B47: lists servers and where they come from, without values that may be secrets", async () => {
    put(settings, {
      mcpServers: {
        files: { command: "npx", args: ["-y", "server"], env: { KEY: "hunter2" } },
        remote: { url: "https://example.com/mcp", headers: { Authorization: "Bearer hunter2" }, disabled: true },
      },
    });
    const text = await done("list");
    expect(text).toMatch(/^files +yours +npx -y server$/m);
    expect(text).toMatch(/^remote +yours +off +https:\/\/example\.com\/mcp$/m);
    const json = await done("list", "-o", "json");
    expect(JSON.parse(json)).toEqual([
      { name: "files", layer: "user", disabled: false, command: "npx", args: ["-y", "server"], env: ["KEY"] },
      {
        name: "remote",
        layer: "user",
        disabled: true,
        url: "https://example.com/mcp",
        headers: ["Authorization"],
        signsIn: "when asked",
      },
    ]);
    expect(text + json).not.toContain("hunter2");
  });

  test("S6: servers of a project are shown with their exact command, and are used only after it is trusted", async () => {
    const [program = "", file = ""] = PROGRAM;
    put(join(place.workspace, ".mcp.json"), { mcpServers: { theirs: { command: program, args: [file, "\u202e"] } } });
    const text = await done("list");
    expect(text).toContain("The project has these MCP servers. They are not used until you trust it");
    expect(text).toContain(`theirs   ${program} ${file} "\\u202e"`);
    expect(await refused("test", "theirs")).toContain('There is no MCP server "theirs" here.');
    new TrustRecord({ env: place.env, home: "" }).trust(place.workspace);
    expect(await done("list")).toMatch(/^theirs +project /m);
    expect(await done("test", "theirs")).toContain("theirs is ready");
  });
});

describe("banyan mcp test", () => {
  test("B47: connects and lists tools and prompts, and calls no tool", async () => {
    put(settings, { mcpServers: { small: { command: PROGRAM[0], args: PROGRAM.slice(1) } } });
    expect(await done("test", "small")).toBe(
      [
        "small is ready: 1 tool, 1 prompt, 1 resource.",
        "",
        "  mcp_small_add   Adds two.",
        "",
        "  /small:greet <who> [how]   Says hello.",
        "",
        "  @small:note://one   The first note",
        "",
        "  @small:note://{id}   Any note",
        "",
      ].join("\n"),
    );
  });

  test("B47: a server that fails is named with the reason and what it wrote, with exit code 1", async () => {
    put(settings, {
      mcpServers: { small: { command: PROGRAM[0], args: [...PROGRAM.slice(1), "broken"], disabled: true } },
    });
    const { code, stdout, stderr } = await run(["test", "small"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(
      "banyan: small wrote: KEY is not set\n" +
        "banyan: small cannot be used: it ended with exit code 3; its last output: KEY is not set.\n",
    );
  });

  test("B47: without a terminal no browser opens; exit code 5 and a sentence request a sign-in", async () => {
    await using guarded = await GuardedServer.open();
    put(settings, { mcpServers: { remote: { url: guarded.url } } });
    const { code, stdout, stderr } = await run(["test", "remote"]);
    expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
    expect(stderr).toContain('The MCP server "remote" wants you to sign in: banyan mcp login remote');
    // B78: the command is named as the user can run it.
    const inCheckout = await run(["test", "remote"], { npm_lifecycle_event: "start" });
    expect(inCheckout.stderr).toContain('"remote" wants you to sign in: npm start -- mcp login remote');
    expect(guarded.signedIn).toBe(0);
  });
});

test("B47: banyan mcp login opens a browser, and afterwards the server can be used; remove forgets it all", async () => {
  await using guarded = await GuardedServer.open();
  await done("add", "remote", guarded.url);
  const browser = join(place.workspace, "browser");
  writeFileSync(browser, `#!/bin/sh\nexec ${process.execPath} -e 'fetch(process.argv[1])' "$1"\n`, { mode: 0o700 });
  const { code, stdout, stderr } = await run(["login", "remote"], { BROWSER: browser });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(
    /^Sign in at 127\.0\.0\.1:\d+ in your browser, and come back\. If no page opens:\nhttp:.*\/authorize\?/,
  );
  expect(stdout).toMatch(/\nremote is ready, with 0 tools\.\n$/);
  expect(guarded.signedIn).toBe(1);
  expect(await done("test", "remote")).toContain("remote is ready");
  const credentials = join(place.env.BANYAN_HOME ?? "", "data", "mcp");
  expect(readdirSync(credentials)).toHaveLength(1);
  await run(["login", "remote"], { BROWSER: browser });
  expect(guarded.signedIn).toBe(2);
  await done("remove", "remote");
  expect(readdirSync(credentials)).toEqual([]);
});
