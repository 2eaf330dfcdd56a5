import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { links } from "../testing/links.ts";
import { modelServer, type ServerAnswer, write } from "../testing/model-server.ts";
import { hasTmux } from "../testing/pty.ts";

const MODEL = ["--model", "openai-compatible/test"];
const READ = { calls: [{ tool: "read", input: { path: "n.md" } }] };

let place: Home;
let file: string;
beforeEach(() => {
  place = home();
  file = join(place.workspace, "n.md");
  writeFileSync(file, "one\n");
});
afterEach(() => place[Symbol.dispose]());

test("F78: a branch knows after a restart what it had read, attached and changed by its commands", async () => {
  const sed = { calls: [{ tool: "shell", input: { command: "sed -i s/one/two/ n.md" } }] };
  const say = async (prompt: string, more: readonly string[], ...answers: ServerAnswer[]) => {
    await using server = await modelServer(...answers, { text: "Done." });
    await banyan(place, ["-p", prompt, "--approval", "all", "--unconfined", ...more, ...MODEL], server);
    return String(server.asked.at(-1)?.at(-1)?.content);
  };
  await say("read it", [], READ, sed);
  expect(await say("write it", ["--continue"], write("n.md", "three\n"))).toContain("Overwrote n.md");
  appendFileSync(file, "by the user\n");
  expect(await say("write it", ["--continue"], write("n.md", "four\n"))).toContain("n.md changed since you read it");
  expect(readFileSync(file, "utf8")).toBe("three\nby the user\n");
  await say("look at @n.md", ["--continue"]);
  expect(await say("write it", ["--continue"], write("n.md", "four\n"))).toContain("Overwrote n.md");
  await say("look at @./n.md", []);
  appendFileSync(file, "by the user\n");
  expect(await say("write it", ["--continue"], write("n.md", "five\n"))).toContain("n.md changed since you read it");
});

describe.skipIf(!hasTmux).each(links)("a changed file ($link)", ({ open }) => {
  test("F78: is not replaced, and the user learns this with the question", async () => {
    await using server = await modelServer(READ, { text: "It says one." }, write("n.md", "mine\n"), { text: "Done." });
    using pty = await open(place, MODEL, server.env);
    await pty.prompted();
    pty.enter("read it");
    await pty.until("It says one.");
    appendFileSync(file, "by the user\n");
    await pty.prompted();
    pty.enter("write it");
    expect((await pty.asked()).replaceAll(/\s+/g, " ")).toContain("n.md changed since the agent read it");
    pty.press("y", "Enter");
    await pty.until("Done.");
    expect(readFileSync(file, "utf8")).toBe("one\nby the user\n");
    expect(String(server.asked.at(-1)?.at(-1)?.content)).toContain("Read it again first");
  });
});
