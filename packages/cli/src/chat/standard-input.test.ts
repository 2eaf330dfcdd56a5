import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { banyan, type Home, home, linesOf, start } from "../testing/banyan.ts";
import { links } from "../testing/links.ts";
import { modelServer, shell } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";
import { connected, serving, TOKEN } from "../testing/serving.ts";

const MODEL = ["--model", "openai-compatible/test"];
const script = (name: string) => shell(`sh <<'E'\ntouch ${name}\nE`);
const ALLOWED = ["--allow", "shell(sh *)", "--allow", "shell(touch *)"];
const NOTICE = "The rule 'shell(sh *)' no longer allows standard input";

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());
const made = () => ["one", "two"].filter((name) => existsSync(join(place.workspace, name)));

describe.skipIf(!hasTmux).each(links)("S33: a script on standard input ($link)", ({ open }) => {
  test("is asked about each time, without the answer always, although rules allow its words", async () => {
    await using server = await modelServer(script("one"), script("two"), { text: "Both asked." });
    using pty = await open(place, ["--color", "never", ...ALLOWED, ...MODEL], server.env);
    await pty.prompted();
    pty.enter("make them");
    const question = await pty.asked();
    expect(question).toContain("Yes, once");
    expect(question).not.toContain("always");
    pty.press("y", "Enter");
    await pty.until("touch two");
    await pty.asked();
    expect(made()).toEqual(["one"]);
    pty.press("n", "Enter");
    await pty.until("Reason (optional):");
    pty.enter("not this");
    await pty.until("Both asked.");
    expect(made()).toEqual(["one"]);
  });
});

describe("S33: a rule that allowed any input", () => {
  test.skipIf(!hasTmux)("is reported in the terminal", async () => {
    using pty = await Pty.open(place, [...ALLOWED, "--model", "demo/offline"], {});
    expect((await pty.prompted()).replaceAll("\n", " ")).toContain("no longer allows standard input");
  });

  test("is reported in print mode, and lets no script run", async () => {
    await using server = await modelServer(script("one"), { text: "I could not." });
    const { code, stderr } = await banyan(place, ["-p", "make it", ...ALLOWED, ...MODEL], server);
    expect({ code, made: made() }).toEqual({ code: 4, made: [] });
    expect(stderr).toContain(NOTICE);
  });

  test("is reported when a server starts, also from the settings", async () => {
    const settings = join(place.env.BANYAN_HOME ?? "", "config", "settings.json");
    mkdirSync(dirname(settings), { recursive: true });
    writeFileSync(settings, '{"permissions": {"allow": ["shell(psql)"]}}');
    const server = start(place, ["serve", "--port", "0", ...ALLOWED, "--model", "demo/offline"], {
      env: { BANYAN_TOKEN: TOKEN },
    });
    onTestFinished(() => void server.kill("SIGKILL"));
    let said = "";
    for await (const chunk of server.stderr.setEncoding("utf8")) {
      said += chunk;
      if (said.includes("'shell(psql)'") && said.includes(NOTICE)) return;
    }
    expect.unreachable(said);
  });

  test("is reported from the answers of a conversation, in print mode, at a server and to its clients", async () => {
    await using server = await modelServer({ text: "Hi." }, script("one"), { text: "I could not." });
    const first = await banyan(place, ["-p", "hi", "--output", "jsonl", ...MODEL], server);
    const id = linesOf(first.stdout).flatMap((line) => ("conversation" in line ? [String(line.conversation)] : []))[0];
    const rights = join(place.env.BANYAN_HOME ?? "", "data", "rights", `${id}.json`);
    expect(readFileSync(join(dirname(rights), "begun.txt"), "utf8")).toContain(id);
    writeFileSync(rights, JSON.stringify({ rules: ["shell(sh)", "shell(touch [harmless])"], calls: {} }));
    const second = await banyan(place, ["-p", "make it", "--continue", ...MODEL], server);
    expect({ code: second.code, made: made() }).toEqual({ code: 4, made: [] });
    expect(second.stderr).toContain(
      "A rule that you added to this conversation now allows fewer calls: The rule 'shell(sh)' no longer allows standard input",
    );

    const [serve, address] = await serving(place, server.env);
    const client = await connected(address);
    let said = "";
    serve.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
    const { tree } = await client.watch(id ?? "").loaded;
    expect(tree?.narrowed.map(({ rule }) => rule)).toEqual(["shell(sh)"]);
    await expect
      .poll(() => said)
      .toContain("A rule that you added to this conversation now allows fewer calls: The rule 'shell(sh)'");
    if (!hasTmux) return;
    using attached = await Pty.open(place, ["attach", address, "--resume", id ?? ""], { BANYAN_TOKEN: TOKEN });
    const shown = (await attached.prompted()).replaceAll("\n", " ");
    expect(shown).toContain(
      "A rule that you added to this conversation now allows fewer calls: The rule 'shell(sh)' no longer allows standard input",
    );
  });
});
