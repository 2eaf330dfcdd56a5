import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { links } from "../testing/links.ts";
import { modelServer, write } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const MODEL = ["--model", "openai-compatible/test"];

let place: Home;
beforeEach(() => {
  place = home();
  mkdirSync(join(place.workspace, "src"));
  writeFileSync(join(place.workspace, "src/a.ts"), "alpha\n");
});
afterEach(() => place[Symbol.dispose]());

/** Results of the calls, as sent to the model. */
const results = (asked: readonly { readonly role: string; readonly content: unknown }[] = []) =>
  asked.filter(({ role }) => role === "tool").map(({ content }) => String(content));

describe.skipIf(!hasTmux).each(links)("a path ($link)", ({ open }) => {
  test("S35: the question names the written file, or no file for a path that is not on this machine", async () => {
    const project = basename(place.workspace);
    await using server = await modelServer(
      write(`$HOME/${project}/src\\new.ts`, "new\n"),
      write("C:\\src\\b.ts", "b\n"),
      { text: "Done." },
    );
    using pty = await open(place, MODEL, server.env);
    await pty.prompted();
    pty.enter("go");
    expect((await pty.asked()).replaceAll("\n", "")).toContain("src/new.ts");
    pty.press("y", "Enter");
    await pty.until("Done.");
    expect(readFileSync(join(place.workspace, "src/new.ts"), "utf8")).toBe("new\n");
    expect(results(server.asked.at(-1)).at(-1)).toMatch(/Windows drive or share.*such as src\/b\.ts/);
    expect(readdirSync(place.workspace)).toEqual(["src"]);
  });
});

test.skipIf(!hasTmux)('S35: a file that the tools cannot reach causes no question and no choice "always"', async () => {
  await using server = await modelServer(
    { calls: [{ tool: "read", input: { path: "~/notes.md" } }] },
    write("/etc/notes.md", "x\n"),
    write("~/../notes.md", "x\n"),
    { text: "Done." },
  );
  using pty = await Pty.open(place, MODEL, server.env);
  await pty.prompted();
  pty.enter("go");
  const shown = await pty.until("Done.");
  expect(shown).not.toContain("banyan asks");
  for (const told of results(server.asked.at(-1)))
    expect(told).toContain("is outside the workspace. Only paths inside");
  expect(results(server.asked.at(-1))).toHaveLength(3);
});

test("S35: in print mode ~ makes no folder, \\ finds the file, and a refusal says what to write", async () => {
  const read = (path: string) => ({ tool: "read", input: { path } });
  const calls = [
    read("src\\a.ts"),
    read(`file://${place.workspace}/src/a.ts`),
    { tool: "write", input: { path: "~/notes.md", content: "x\n" } },
    { tool: "write", input: { path: "~root/notes.md", content: "x\n" } },
    { tool: "write", input: { path: ".\\src\\b.ts", content: "b\n" } },
  ];
  await using server = await modelServer({ calls }, { text: "Done." });
  await banyan(place, ["-p", "go", "--approval", "edits", ...MODEL], server);
  const told = results(server.asked.at(-1));
  expect(told.slice(0, 2)).toEqual(["1\talpha\n", "1\talpha\n"]);
  expect(told[2]).toContain(`Not allowed: ${place.env.HOME}/notes.md is outside the workspace.`);
  expect(told[3]).toContain("or ./~root/notes.md for a file of that name");
  expect(readFileSync(join(place.workspace, "src/b.ts"), "utf8")).toBe("b\n");
  expect(readdirSync(place.workspace)).toEqual(["src"]);
  expect(existsSync(join(place.env.HOME ?? "", "notes.md"))).toBe(false);
});

test("S35: an @ name in a message means the same file as in a tool call", async () => {
  await using server = await modelServer({ text: "Done." });
  const project = basename(place.workspace);
  const names = ["@src\\a.ts", `@~/${project}/src/a.ts`, `@file://${place.workspace}/src/a.ts`];
  await banyan(place, ["-p", names.join(" "), ...MODEL], server);
  expect(JSON.stringify(server.asked[0]).split("alpha").length - 1).toBe(3);
  const ended = await banyan(place, ["-p", "look at @~root/a.ts", ...MODEL], server);
  expect(ended.stderr).toContain("Can't attach ~root/a.ts: ~root/a.ts is the home folder of another user");
});
