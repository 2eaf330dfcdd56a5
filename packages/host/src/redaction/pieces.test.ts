import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Session, say } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { workspaceTools } from "@banyan/tools/workspace";
import { expect, test } from "vitest";
import { attachNamedFiles } from "../attachments/attach.ts";
import { redactedTools } from "./redacted-tools.ts";
import { redactor } from "./redactor.ts";
import { hiddenKeys, privateKey, toldOf } from "./secrets.fixture.ts";

/** Prefixes and suffixes of lines in the output of common programs. */
const marks: Readonly<Record<string, (line: string, number: number) => string>> = {
  plain: (line) => line,
  "numbered by grep": (line, number) => `${number}:${line}`,
  "with names": (line, number) => `a/notes.txt:${number}:${line}`,
  "with their ends": (line) => `${line}$`,
  "numbered by nl": (line, number) => `${String(number).padStart(6)}\t${line}`,
  added: (line) => `+${line}`,
  removed: (line) => `-${line}`,
  quoted: (line) => `> ${line}`,
  "in a comment": (line) => ` * ${line}`,
};

const forms = Object.entries(hiddenKeys()).flatMap(([form, { content, secret }]) =>
  typeof content === "string" && !form.includes("base64") ? [{ form, lines: content.split("\n"), secret }] : [],
);

test.each(forms)(
  "S22: any full lines of a key, $form, are known without the rest of it, however they are shown",
  ({ lines, secret }) => {
    const full = lines.flatMap((line, index) => (/[A-Za-z0-9+/]{64}/.test(line) ? [index] : []));
    for (const [shown, mark] of Object.entries(marks)) {
      const first = full[randomInt(Math.max(1, full.length - 3))] ?? 0;
      const part = lines.slice(first, first + 3 + randomInt(6)).map((line, index) => mark(line, first + index + 1));
      const text = part.join("\n");
      const redact = redactor({ env: {} });
      expect([shown, text, toldOf(secret, redact(text))]).toEqual([shown, text, undefined]);
    }
  },
);

test("S22: any sixteen characters reveal a key that was seen once", () => {
  const redact = redactor({ env: {} });
  const key = privateKey();
  redact.watch()(`something else\n${key}\n`);
  const body = key.split("\n").slice(1, -1);
  for (let round = 0; round < 500; round += 1) {
    const line = body[randomInt(body.length)] ?? "";
    const start = randomInt(line.length - 16);
    const text = `x: ${line.slice(start, start + 16 + randomInt(40))}, and so on`;
    expect(toldOf(key, redact(text))).toBeUndefined();
  }
  expect(redact("x: an ordinary word, AndALongOneThatIsNoKey1")).toBe("x: an ordinary word, AndALongOneThatIsNoKey1");
});

test("S22: each tool that reads a piece of a file checks the whole file, for its first and last piece alike", async () => {
  const keys = Object.entries(hiddenKeys());
  const path = "notes.txt";
  const pieces = {
    read: { path, start: 9, end: 9 },
    search: { path, pattern: "[A-Za-z0-9+/]{20,}" },
    edit: { path, old_text: "# and out again", new_text: "# out" },
    write: { path, content: "gone\n" },
  };
  for (const [form, { content, secret }] of keys) {
    for (const [tool, input] of Object.entries(pieces)) {
      using folder = disposableFolder();
      writeFileSync(join(folder.path, path), content);
      const redact = redactor({ env: {} });
      const tools = workspaceTools({ root: folder.path, redaction: redact.stream, watch: redact.watch });
      const model = scriptedModel([[call(tool, input)], "done"]);
      const seen: unknown[] = [model.requests];
      const agent = new Agent({ model, tools: redactedTools(tools, redact) });
      for await (const item of agent.chat(say("go"), { session: Session.inMemory() })) seen.push(item);
      expect([form, tool, toldOf(secret, JSON.stringify(seen))]).toEqual([form, tool, undefined]);
    }
  }
});

test.each(["id_rsa", "deploy_ed25519", "store.p12", "plain.txt"])(
  "S22: a file with a private key and nothing else is not opened, but where the settings name it: %s",
  async (name) => {
    using folder = disposableFolder();
    const key = privateKey();
    writeFileSync(join(folder.path, name), `${key}\n`);
    const redact = redactor({ env: {} });
    const told = async (keyFiles: readonly string[]) => {
      const options = { root: folder.path, redaction: redact.stream, watch: redact.watch, keyFiles };
      const model = scriptedModel([[call("read", { path: name })], "done"]);
      const agent = new Agent({ model, tools: redactedTools(workspaceTools(options), redact) });
      for await (const _ of agent.chat(say("go"), { session: Session.inMemory() }));
      return JSON.stringify(model.requests);
    };
    expect(await told([])).toContain(`${name} contains a private key, so it was not opened`);
    const allowed = await told([name]);
    expect(allowed).toContain("[redacted:private-key]");
    expect(toldOf(key, allowed)).toBeUndefined();
    const { problems, parts } = await attachNamedFiles(`see @${name}`, { folder: folder.path, redact });
    expect(problems.join()).toContain("contains a private key, so it was not opened");
    expect(parts).toHaveLength(1);
  },
);

function disposableFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "banyan-pieces-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}
