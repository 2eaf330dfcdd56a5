import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";
import { serving } from "../testing/serving.ts";

const SERVER = fileURLToPath(new URL("./program-server.fixture.ts", import.meta.url));
const MODEL = ["--plain", "--model", "openai-compatible/test"];
/** Composed at run time, so that secret scanners ignore this file. */
const SECRET = `ghp_${"aB3dE6gH9jK2mN5pQ8sT".repeat(2).slice(0, 36)}`;
const REDACTED = "[redacted:github-token]";
const LONG = process.env.BANYAN_LONG === "1";

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

function servers(mcpServers: object): void {
  const settings = join(place.env.BANYAN_HOME ?? "", "config", "settings.json");
  mkdirSync(dirname(settings), { recursive: true });
  writeFileSync(settings, JSON.stringify({ sandbox: { enabled: "off" }, mcpServers }));
}

const small = { command: process.execPath, args: [SERVER], env: { NOTE: SECRET } };
const broken = { command: process.execPath, args: [SERVER, "broken"] };

/** A local server, and its number of visits. */
async function neighbour() {
  let visits = 0;
  const server = createServer((_request, response) => {
    visits += 1;
    response.end("the key of the neighbour");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/key`,
    get visits() {
      return visits;
    },
    [Symbol.dispose]: () => void server.close(),
  };
}

describe.skipIf(!hasTmux)("an MCP server in a chat", () => {
  test("B47, B46, B48, S10, S11: its prompts are commands, its resources and pages go along, its words stand in /context", async () => {
    servers({ small, broken });
    using local = await neighbour();
    await using model = await modelServer({ text: "First." }, { text: "Second." });
    using pty = Pty.open(place, MODEL, model.env);
    const said = () => model.asked.at(-1)?.findLast(({ role }) => role === "user")?.content;
    await pty.prompted();

    // Typed before the server can have started.
    pty.enter("/small:greet");
    await pty.until("/small:greet needs who.");
    pty.enter("/small:greet Ada in a loud voice");
    expect(await pty.until("First.")).toContain("The MCP server broken cannot be used: ");
    expect(said()).toBe(`Greet {"who":"Ada","how":"in a loud voice"} ${REDACTED}`);

    await pty.prompted();
    pty.enter(`compare @small:note://one with @${local.address} and @https://127.0.0.1/key`);
    await pty.until("Second.");
    expect(said()).toContain(`Read note://one ${REDACTED}`);
    expect(said()).toContain('<resource name="small:note://one">');
    const screen = pty.screen();
    expect(screen).toMatch(/small:note:\/\/one.*resource/);
    for (const address of [local.address, "https://127.0.0.1/key"])
      expect(screen.replace(/\s+/g, " ")).toContain(`Can't attach ${address}: `);
    expect(local.visits).toBe(0);

    await pty.prompted();
    const context = await pty.exchange("/context", /^instructions +MCP server small +~?\d+/);
    expect(context).toContain("mcp_small_add");
    const [system] = model.asked.at(-1) ?? [];
    expect(system?.content).toContain(`> Add before you greet.\n> The note is ${REDACTED}`);
    expect(JSON.stringify(model.asked) + (await pty.written("mcp_small_add"))).not.toContain(SECRET);
  });

  const late = (file: string) => ({ command: process.execPath, args: [SERVER, "late", file] });

  test("B83: the first turn waits for a server that is late, says so, and has its tools", async () => {
    const file = join(place.workspace, "now");
    servers({ late: late(file) });
    await using model = await modelServer({ calls: [{ tool: "mcp_late_add", input: { a: 1 } }] }, { text: "Done." });
    using pty = Pty.open(place, [...MODEL, "--allow", "mcp_late_*"], model.env);
    await pty.prompted();
    pty.enter("add");
    await pty.until("Waiting for the MCP server late, for at most 30 s. Ctrl-C continues without them.");
    expect(model.asked).toEqual([]);
    writeFileSync(file, "");
    expect(await pty.until("Done.")).not.toContain("still starting");
    expect(JSON.stringify(model.asked[1])).toContain('Added {\\"a\\":1}');
  });

  test.runIf(LONG)("B83: Ctrl-C lets the first turn begin without a server that is late", async () => {
    servers({ late: late(join(place.workspace, "never")) });
    await using model = await modelServer({ text: "Without." });
    using pty = Pty.open(place, MODEL, model.env);
    await pty.prompted();
    pty.enter("add");
    await pty.until("Ctrl-C continues without them.");
    pty.press("C-c");
    expect(await pty.until("Without.")).toContain("The MCP server late is still starting");
  });

  test.runIf(LONG)(
    "B83: an attached terminal shows the wait too, and Ctrl-C continues without the MCP server",
    async () => {
      servers({ late: late(join(place.workspace, "never")) });
      await using model = await modelServer({ text: "Without." });
      await serving(place, model.env);
      using pty = Pty.open(place, ["attach", "--new", "--plain"], model.env);
      await pty.prompted();
      pty.enter("add");
      await pty.until("Waiting for the MCP server late, for at most 30 s. Ctrl-C continues without them.");
      expect(model.asked).toEqual([]);
      pty.press("C-c");
      expect(await pty.until("Without.")).toContain("The MCP server late is still starting");
    },
  );

  test.runIf(LONG)(
    "T1: Ctrl-C stops a message while its attachments are read: nothing is sent, and the text returns to the prompt",
    async () => {
      servers({ late: late(join(place.workspace, "never")) });
      await using model = await modelServer({ text: "Good morning." });
      using pty = Pty.open(place, MODEL.slice(1), model.env);
      await pty.prompted();
      const line = "read @late:note://one";
      pty.type(line);
      await pty.until(line);
      pty.press("Enter");
      await pty.prompted();
      pty.press("C-c");
      const screen = await pty.until("Stopped before the turn began. Nothing was sent.");
      expect(screen).not.toContain("Can't attach");
      await pty.until(line);
      pty.press("C-u");
      await pty.prompted();
      pty.enter("good morning");
      await pty.until("Ctrl-C continues without them.");
      pty.press("C-c");
      await pty.until("Good morning.");
      expect(JSON.stringify(model.asked)).not.toContain("note://one");
    },
  );
});

test("B47: print mode has the tools of its servers in its only turn, and names missing servers", async () => {
  servers({ small, broken });
  await using model = await modelServer({ calls: [{ tool: "mcp_small_add", input: { a: 1 } }] }, { text: "Done." });
  const args = ["-p", "add", "--model", "openai-compatible/test", "--allow", "mcp_small_*"];
  const { code, stdout, stderr } = await banyan(place, args, { env: model.env });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
  expect(stderr).toContain("The MCP server broken cannot be used: ");
  expect(JSON.stringify(model.asked[1])).toContain(`Added {\\"a\\":1} ${REDACTED}`);
});
