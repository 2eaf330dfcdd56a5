import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ODD_IDS } from "@banyan/core/testing";
import { optionWords, ownCommand } from "@banyan/host/own-command";
import { expect, test } from "vitest";
import { readArguments } from "./arguments.ts";
import { banyan, home, MAIN } from "./testing/banyan.ts";

test("B78, S32: a printed command works as the user started Banyan", () => {
  expect(ownCommand("--resume x", { npm_lifecycle_event: "start", npm_command: "run-script" })).toBe(
    "npm start -- --resume x",
  );
  expect(ownCommand("--resume x", { npm_command: "exec" })).toBe("npx --no banyan --resume x");
  expect(ownCommand("--resume x", {})).toBe("banyan --resume x");
});

test("W80: a printed command passes every id to the program unchanged", () => {
  expect(ownCommand(optionWords("--resume", "01k0000000conformance00001"), {})).toBe(
    "banyan --resume 01k0000000conformance00001",
  );
  for (const id of ODD_IDS) {
    const line = ownCommand([...optionWords("--resume", id), ...optionWords("--at", id)], {});
    const { stdout } = spawnSync("sh", ["-c", line.replace(/^banyan/, `printf '%s\\0'`)], { encoding: "utf8" });
    const wanted = readArguments(stdout.split("\0").slice(0, -1));
    expect(wanted).toMatchObject({ type: "run", arguments: { resume: id, at: id } });
  }
});

test("W80: a conversation with any id can be imported, and the printed command continues it", async () => {
  using place = home();
  const id = `-É 'a/../"b" $(id)\u202e`;
  const head = { seq: 1, epoch: 1, at: 1 };
  const events = [
    { ...head, type: "conversation.created", id, labels: {} },
    {
      ...head,
      type: "message.added",
      seq: 2,
      message: "#1",
      parentId: null,
      role: "user",
      parts: [{ type: "text", text: "an oak" }],
    },
  ];
  const file = join(place.workspace, "odd.json");
  writeFileSync(file, JSON.stringify({ format: "banyan-conversation", version: 1, events }));
  const { stdout } = await banyan(place, ["conversations", "import", file]);
  const goOn = stdout.split("\n").find((line) => line.startsWith("banyan ")) ?? "";
  expect(goOn).toContain("--resume=");
  const found = await banyan(place, ["conversations", "search", "oak"]);
  const there = found.stdout.split("\n").find((line) => line.includes("banyan ")) ?? "";
  for (const line of [goOn, there]) {
    const command = line.trim().replace("banyan", `'${process.execPath}' '${MAIN}'`);
    const { status, stderr } = spawnSync("sh", ["-c", `${command} -p hello --model demo/offline`], {
      cwd: place.workspace,
      env: place.env,
      encoding: "utf8",
    });
    expect({ status, stderr }).toMatchObject({ status: 0 });
  }
  const removed = await banyan(place, ["conversations", "remove", "--", id]);
  expect(removed.stderr).toContain("\\u{202e}");
  const kept = await banyan(place, ["conversations", "export", "--", id]);
  expect(JSON.parse(kept.stdout).events.length).toBeGreaterThan(events.length + 4);
});

test("B78: the program prints commands in this form", async () => {
  using place = home();
  const { stdout } = await banyan({ ...place, env: { ...place.env, npm_lifecycle_event: "start" } }, ["mcp", "list"]);
  expect(stdout).toContain("npm start -- mcp add --help explains how to add a server.");
});

test("B78: no sentence of the terminal names a command of the program by itself", () => {
  const sources = fileURLToPath(new URL(".", import.meta.url));
  const files = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !/test\.ts|fixture|arguments\.ts|subcommands\.ts|testing/.test(name),
  );
  const named = files.flatMap((name) =>
    readFileSync(join(sources, name), "utf8")
      .split("\n")
      .filter(
        (line) =>
          /["`].*\bbanyan (--resume|attach |mcp |config set|memory list|conversations |serve,|changes )/.test(line) &&
          !/^\s*(\*|\/)/.test(line),
      )
      .map((line) => `${name}: ${line.trim()}`),
  );
  expect(named).toEqual([]);
});
