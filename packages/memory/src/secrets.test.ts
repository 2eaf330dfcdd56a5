import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { lintSource } from "@secretlint/core";
import { creator } from "@secretlint/secretlint-rule-preset-recommend";
import { expect, test } from "vitest";
import { type SqliteMemoryOptions, sqliteMemory } from "./index.ts";
import { embedder, recalled, said, temporaryFile } from "./memory.fixture.ts";

// Assembled here, so that no scanner reports this file.
const SECRETS = {
  github: `ghp_${"aB3dE6gH9jK2mN5pQ8sT".repeat(2).slice(0, 36)}`,
  npm: `npm_${"aB3dE6gH9jK2mN5pQ8sT".repeat(2).slice(0, 36)}`,
  slack: ["xoxb", "123456789012", "1234567890123", "aBcDeFgHiJkLmNoPqRsTuVwX"].join("-"),
  anthropic: `sk-ant-api03-${"aB3dE6gH9jK2mN5pQ8sT".repeat(5).slice(0, 93)}AA`,
  address: `https://admin:${"s3cr3tPassw0rd"}@db.example.org/main`,
};

/** Redacts as a host does: replaces each secret by its name. */
function redact(text: string): string {
  return Object.entries(SECRETS).reduce((rest, [name, secret]) => rest.replaceAll(secret, `[${name}]`), text);
}

/** The findings of an independent scanner in a text. */
async function found(text: string): Promise<string[]> {
  const { messages } = await lintSource({
    source: { filePath: "memory.txt", content: text, contentType: "text", ext: ".txt" },
    options: { config: { rules: [{ id: "@secretlint/secretlint-rule-preset-recommend", rule: creator }] } },
  });
  return messages.map(({ message }) => message);
}

function filesOf(file: string): string[] {
  return readdirSync(dirname(file)).map((name) => readFileSync(join(dirname(file), name), "utf8"));
}

/** The content of a memory's files and requests to its embedding model, after secrets came in on every way. */
async function traces(options: Partial<SqliteMemoryOptions>): Promise<string> {
  const file = await temporaryFile();
  const model = embedder([["token"]]);
  const memory = sqliteMemory({ file, embed: model, ...options });
  for (const secret of Object.values(SECRETS)) {
    await memory.remember([
      said(`Here is my token: ${secret} and keep it.`),
      said(`I use the token ${secret} from now on.`, "a", { role: "assistant" }),
      // A cut would go through the secret.
      said(`${"word ".repeat(298)}${secret} ${"word ".repeat(300)}`),
      said(`Done with ${secret} in place.`, "a", { kind: "summary" }),
      said(secret, "a", { kind: "fact" }),
    ]);
    await memory.add({ text: `The token is ${secret}.` });
    await recalled(memory, `What is ${secret} for?`);
  }
  const listed = (await memory.list({ limit: 1000 })).map(({ text }) => text);
  const open = filesOf(file);
  await memory.close();
  return [...open, ...filesOf(file), ...listed, ...model.calls.flat()].join("\n");
}

test("S10: a scanner finds no secret in a memory's file or in its embedder's requests", async () => {
  const text = await traces({ redact });
  expect(await found(text)).toEqual([]);
  for (const [name, secret] of Object.entries(SECRETS)) {
    expect(text).toContain(`Here is my token: [${name}] and keep it.`);
    for (let at = 0; at + 20 <= secret.length; at++) expect(text).not.toContain(secret.slice(at, at + 20));
  }
});

test("S10: without redaction, the scanner finds each secret", async () => {
  const text = await traces({});
  expect((await found(text)).length).toBeGreaterThan(Object.keys(SECRETS).length);
  for (const secret of Object.values(SECRETS)) expect(await found(`Here is ${secret}.`)).not.toEqual([]);
});

test("S10: an added fact is returned as stored, without its secret", async () => {
  await using memory = sqliteMemory({ file: await temporaryFile(), redact });
  expect(await memory.add({ text: `Use ${SECRETS.npm} to publish.` })).toMatchObject({ text: "Use [npm] to publish." });
});

test("S10: memory stores nothing of a text if its redaction fails", async () => {
  const broken = new Error("the redaction broke");
  await using memory = sqliteMemory({
    file: await temporaryFile(),
    redact: () => {
      throw broken;
    },
  });
  await expect(memory.remember([said("Something is said here.")])).rejects.toBe(broken);
  await expect(memory.add({ text: "A fact." })).rejects.toBe(broken);
  expect(await memory.list()).toEqual([]);
});
