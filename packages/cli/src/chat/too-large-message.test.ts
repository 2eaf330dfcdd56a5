import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { Pty } from "../testing/pty.ts";

const MODEL = ["--model", "openai-compatible/test"];
const LARGE = `BEGINNING ${"lorem ipsum dolor ".repeat(6_500)}END`;

let place: Home;
beforeEach(() => {
  place = home();
  const config = join(place.env.BANYAN_HOME ?? "", "config");
  mkdirSync(config, { recursive: true });
  const models = { "openai-compatible/test": { contextSize: 16_000 } };
  writeFileSync(join(config, "settings.json"), JSON.stringify({ models }));
});
afterEach(() => place[Symbol.dispose]());

const stored = () => readdirSync(place.workspace).filter((name) => /^message-.*\.txt$/.test(name));

describe("F93: a message that is larger than the window", () => {
  test("is refused in print mode before it is sent, and the next one works", async () => {
    await using server = await modelServer({ text: "Hello." });
    const refused = await banyan(place, ["-p", LARGE, ...MODEL], server);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/Your message has about [\d,]+ tokens, but openai-compatible\/test accepts at most/);
    expect(refused.stderr).toContain("Write a shorter message");
    expect(refused.stderr).not.toContain("/rewind");
    expect([server.asked, stored()]).toEqual([[], []]);
    const next = await banyan(place, ["-p", "And now?", "--continue", ...MODEL], server);
    expect(next).toMatchObject({ code: 0, stdout: "Hello.\n" });
    expect(JSON.stringify(server.asked[0])).not.toContain("BEGINNING");
  });

  test("is offered to be stored in the terminal, and the model is told of the file", async () => {
    await using server = await modelServer({ text: "I will read it." });
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    pty.paste(LARGE);
    pty.press("Enter");
    await pty.asked("Store the message as a file?");
    pty.enter("y");
    await pty.until("I will read it.");
    const [file = ""] = stored();
    expect(readFileSync(join(place.workspace, file), "utf8").trim()).toBe(LARGE);
    expect(JSON.stringify(server.asked[0])).toContain(`stored as the file ${file}`);
  });

  test("is kept back in the terminal if the user declines, with the way back", async () => {
    await using server = await modelServer({ text: "Hello." });
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    pty.paste(LARGE);
    pty.press("Enter");
    await pty.asked("Store the message as a file?");
    pty.enter("n");
    await pty.until("Go back to an earlier message with /tree or /rewind.");
    expect([server.asked, stored()]).toEqual([[], []]);
    await pty.prompted();
    pty.enter("and now?");
    await pty.until("Hello.");
  });
});
