import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home, start } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";
import { serving, TOKEN } from "../testing/serving.ts";

const MODEL = ["--model", "openai-compatible/test"];

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

/** Sends a message to a new or existing conversation. Returns the conversation's id. */
async function said(text: string, answer: string, ...more: readonly string[]): Promise<string> {
  await using server = await modelServer({ text: answer });
  const { stdout } = await banyan(place, ["-p", text, "-o", "json", ...MODEL, ...more], { env: { ...server.env } });
  return JSON.parse(stdout).conversation;
}

async function done(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await banyan(place, ["conversations", ...args]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

async function refused(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await banyan(place, ["conversations", ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  return stderr;
}

describe("banyan conversations list", () => {
  test("lists list the conversations of this directory, newest first, with their messages", async () => {
    expect(await done("list")).toContain("There are no conversations in ");
    const first = await said("What is red?", "Blood.");
    const second = await said("What is blue?", "The sea.");
    await said("And what else?", "The sky.", "--resume", first);
    const lines = (await done()).trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(
      new RegExp(`^${first} +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d +4 +unattended +What is red\\?$`),
    );
    expect(lines[2]).toMatch(new RegExp(`^${second} .* 2 +unattended +What is blue\\?$`));
    const other = await banyan(place, ["conversations", "list", "-o", "json"], { cwd: join(place.workspace, "..") });
    expect(JSON.parse(other.stdout)).toEqual([]);
    const all = await banyan(place, ["conversations", "list", "--all", "-o", "json", "-n", "1"], { cwd: "/" });
    expect(JSON.parse(all.stdout)).toMatchObject([{ id: first, title: "What is red?", messages: 4, status: "quiet" }]);
  });

  test("W89: leaves out what programs began at /v1, and --programs lists it", async () => {
    const mine = await said("What is red?", "Blood.");
    await using model = await modelServer({ text: "The sea." });
    const [server, address] = await serving(place, model.env);
    const response = await fetch(`${address}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "banyan", messages: [{ role: "user", content: "What is blue?" }] }),
    });
    expect(response.status).toBe(200);
    server.kill("SIGTERM");
    await once(server, "exit");
    const ids = async (...args: readonly string[]) =>
      JSON.parse(await done("list", "-o", "json", ...args)).map(({ id }: { id: string }) => id);
    expect(await ids()).toEqual([mine]);
    expect(await ids("--programs")).toEqual([response.headers.get("x-banyan-conversation"), mine]);
    expect(await done("list", "--programs")).toMatch(/ program +What is blue\?/);
    // `--continue` skips conversations of programs.
    await banyan(place, ["-p", "And green?", "--continue", ...MODEL], { env: { ...model.env } });
    expect(JSON.parse(await done("list", "-o", "json"))).toMatchObject([{ id: mine, messages: 4 }]);
  });

  test("B60: damaged, interrupted and open conversations are listed with their state, and all others too", async () => {
    const whole = await said("What is red?", "Blood.");
    const damaged = await said("What is blue?", "The sea.");
    writeFileSync(join(place.env.BANYAN_HOME ?? "", "data", "conversations", `${damaged}.sqlite`), "no database");
    await using server = await modelServer({ text: "Once upon a time", stalls: true });
    const running = start(place, ["-p", "a story", "-o", "jsonl", ...MODEL], { env: { ...server.env } });
    for (let said = ""; !said.includes("Once upon"); ) said += String((await once(running.stdout, "data"))[0]);
    const statuses = async () => {
      const listed: { title: string; status: string }[] = JSON.parse(await done("list", "-o", "json"));
      return Object.fromEntries(listed.map(({ title, status }) => [title, status]));
    };
    expect(await statuses()).toMatchObject({ "What is red?": "quiet", "a story": "open" });
    running.kill("SIGKILL");
    await new Promise((resolve) => running.once("close", resolve));
    expect(await statuses()).toMatchObject({ "What is red?": "quiet", "a story": "interrupted" });
    expect(await done("list", "--all")).toMatch(new RegExp(`^${damaged} .*unreadable`, "m"));
    expect(await done("show", whole)).toContain("Blood.");
  });
});

test("banyan conversations show prints a branch, with its calls", async () => {
  await using server = await modelServer(
    { calls: [{ tool: "list", input: { path: "." } }] },
    { text: "It is \x1b[31mempty." },
  );
  await banyan(place, ["-p", "what is here?", ...MODEL], { env: { ...server.env } });
  const shown = await done("show", "what is here?");
  expect(shown).toMatch(
    /^what is here\?\n[0-9a-z]{26}, begun .*, 3 messages on this branch\n\n#1 you\nwhat is here\?\n\n#2 banyan\n• list {2}\. … done/,
  );
  expect(shown).toMatch(/\n#3 banyan\nIt is empty\.\n$/);
});

test("B55: a search finds messages in all conversations and branches, and says how to open each on its own branch", async () => {
  const id = await said("What is red?", "Blood is red.");
  await said("What is blue?", "The sea.");
  await said("And green?", "Leaves.", "--resume", id);
  await addBranch(id, "And yellow?");
  const found: { conversation: string; message: string; excerpt: string }[] = JSON.parse(
    await done("search", "red", "-o", "json"),
  );
  expect(found.map(({ excerpt }) => excerpt).toSorted()).toEqual(["Blood is red.", "What is red?"]);
  const text = await done("search", "leav");
  expect(text).toMatch(
    new RegExp(`^What is red\\?  .*, agent\\n  Leaves\\.\\n  banyan --resume ${id} --at [0-9a-z]{26}\\n`),
  );
  const [leaves] = JSON.parse(await done("search", "leaves", "-o", "json"));
  await using server = await modelServer({ text: "Also grass." });
  await banyan(place, ["-p", "what else?", "--resume", id, "--at", leaves.message, ...MODEL], {
    env: { ...server.env },
  });
  expect(JSON.stringify(server.asked[0])).toContain("And green?");
  expect(JSON.stringify(server.asked[0])).not.toContain("And yellow?");
  expect(await done("search", "nothing at all")).toContain("Nothing found.");
});

/** Adds a message below the first answer, as another branch. */
async function addBranch(id: string, text: string): Promise<void> {
  const file = JSON.parse(await done("export", id));
  const last = file.events.at(-1);
  const [answer] = file.events.filter(({ type }: { type: string }) => type === "message.started");
  const added = {
    role: "user",
    author: "user",
    parentId: answer.message,
    message: "yellow",
    parts: [{ type: "text", text }],
  };
  file.events.push({ ...added, type: "message.added", seq: last.seq + 1, epoch: last.epoch, at: last.at + 1 });
  await done("remove", id, "--yes");
  await banyan(place, ["conversations", "import", "-"], { input: JSON.stringify(file) });
}

test("--at needs a conversation, and a message of it", async () => {
  const id = await said("What is red?", "Blood.");
  for (const [args, message] of [
    [["--at", "#1"], "--at names a message of a conversation. Use it with --resume or --continue."],
    [["--resume", id, "--at", "#9"], "There is no message #9 in this conversation."],
  ] as const) {
    const { code, stderr } = await banyan(place, ["-p", "more", ...args, "--model", "demo/offline"]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  }
});

describe("B56: an exported conversation", () => {
  test("can be imported: the same tree, under its own id, or a new one if that is taken", async () => {
    const id = await said("What is red? 👩‍👩‍👧 \u202e", "Blood.");
    await said("And green?", "Leaves.", "--resume", id);
    const file = join(place.workspace, "export.json");
    expect(await done("export", id, "-o", file)).toBe(`Exported ${id} to ${file}.\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, "utf8");
    expect(await done("export", id)).toBe(text);

    const again = await done("import", file);
    const [, second = ""] = /^Imported 4 messages as ([0-9a-z]{26})\. /.exec(again) ?? [];
    expect(again).toContain(`${id} exists already, so the imported conversation has a new id.`);
    // An event after it records the import (S17).
    const marked = [...tree(text), expect.objectContaining({ type: "conversation.brought-in", how: "import" })];
    expect(tree(await done("export", second))).toEqual(marked);
    await done("remove", id, "--yes");
    expect(await done("import", file)).toBe(`Imported 4 messages as ${id}.\nbanyan --resume ${id}\n`);
    expect(tree(await done("export", id))).toEqual(marked);
    expect(await done("list")).toMatch(/4 +unattended +What is red\?/);
  });

  /** The events without the fields that identify their log. */
  function tree(text: string): unknown[] {
    const { events } = JSON.parse(text) as { events: { epoch: number; type: string; id?: string }[] };
    return events.map(({ epoch: _, ...event }) =>
      event.type === "conversation.created" ? { ...event, id: "" } : event,
    );
  }

  test("is read from standard input too, and goes on as if it had always been here", async () => {
    const id = await said("What is red?", "Blood.");
    const text = await done("export", id);
    await done("remove", id, "--yes");
    const { stdout } = await banyan(place, ["conversations", "import", "-"], { input: text });
    expect(stdout).toContain(`as ${id}.`);
    await using server = await modelServer({ text: "Yes." });
    await banyan(place, ["-p", "sure?", "--continue", ...MODEL], { env: { ...server.env } });
    expect(JSON.stringify(server.asked[0])).toContain("Blood.");
  });

  test("is Markdown or HTML to read", async () => {
    const id = await said("What is <red>?", "Blood.");
    expect(await done("export", id, "-f", "markdown")).toMatch(
      /^# What is <red>\?\n[\s\S]*\n## You\n\nWhat is <red>\?\n\n## openai-compatible\/test\n\nBlood\.\n$/,
    );
    expect(await done("export", id, "-f", "html")).toContain("What is &#60;red&#62;?");
  });

  test("is not written over a file that is there", async () => {
    const id = await said("What is red?", "Blood.");
    const file = join(place.workspace, "mine.txt");
    writeFileSync(file, "mine");
    expect(await refused("export", id, "-o", file)).toBe(
      `banyan: ${file}: The file exists already. Name another file, or remove it first.\n`,
    );
    expect(readFileSync(file, "utf8")).toBe("mine");
  });

  test("a faulty export is refused with the faulty place, and imports nothing", async () => {
    const file = join(place.workspace, "broken.json");
    writeFileSync(file, '{\n"format": "banyan-conversation",\n"version": 1,\n"events": [\n{"type": }]}');
    expect(await refused("import", file)).toBe(
      `banyan: ${file} cannot be imported: line 5, column 10: the JSON is not valid at "}"; expected an exported conversation.\n`,
    );
    expect(await refused("import", join(place.workspace, "none"))).toContain("The file cannot be used (ENOENT).");
    expect(await done("list", "--all", "-o", "json")).toBe("[]\n");
  });
});

describe("banyan conversations remove", () => {
  test("needs --yes without a terminal, and names the conversation", async () => {
    const id = await said("What is red?", "Blood.");
    expect(await refused("remove", id)).toMatch(
      new RegExp(
        `^banyan: This would remove ${id}, “What is red\\?”, begun .*, with 2 messages .*, for good\\. Without a terminal, confirm with --yes`,
      ),
    );
    expect(await done("remove", id, "--yes")).toContain(`Removed ${id}, “What is red?”`);
    expect(await done("search", "red")).toContain("Nothing found.");
    expect(await refused("remove", id, "--yes")).toContain(`There is no conversation '${id}'.`);
  });

  test.skipIf(!hasTmux)("asks a person, of whom only yes is a yes", async () => {
    const id = await said("What is red?", "Blood.");
    for (const answer of ["", "y", "no"]) {
      using pty = Pty.open(place, ["conversations", "remove", id]);
      await pty.until("Type yes to continue:");
      pty.enter(answer);
      expect(await pty.until("[exit 0]")).toContain("Nothing was removed.");
    }
    {
      using pty = Pty.open(place, ["conversations", "remove", id]);
      await pty.until("Type yes to continue:");
      pty.press("C-c");
      expect(await pty.until("[exit 0]")).toContain("Nothing was removed.");
    }
    using pty = Pty.open(place, ["conversations", "remove", id]);
    await pty.until("Type yes to continue:");
    pty.enter("yes");
    await pty.until(`Removed ${id}`);
  });
});

test("an unknown subcommand is refused with the nearest name", async () => {
  expect(await refused("lst")).toBe("banyan: Unknown command 'lst' (Did you mean list?)\n");
  expect(await refused("show")).toContain("Missing required argument 'conversation'");
});
