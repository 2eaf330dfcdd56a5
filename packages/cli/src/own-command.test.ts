import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownCommand } from "@banyan/host/own-command";
import { expect, test } from "vitest";
import { banyan, home } from "./testing/banyan.ts";

test("B78: what a person is told to run is written as it works where they are", () => {
  expect(ownCommand("--resume x", { npm_lifecycle_event: "start", npm_command: "run-script" })).toBe(
    "npm start -- --resume x",
  );
  expect(ownCommand("--resume x", { npm_command: "exec" })).toBe("npx banyan --resume x");
  expect(ownCommand("--resume x", {})).toBe("banyan --resume x");
});

test("B78: the program tells it so", async () => {
  using place = home();
  const { stdout } = await banyan({ ...place, env: { ...place.env, npm_lifecycle_event: "start" } }, ["mcp", "list"]);
  expect(stdout).toContain("npm start -- mcp add --help says how to add one.");
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
