import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelServer } from "../../packages/cli/src/testing/model-server.ts";
import { privateKey } from "../../packages/host/src/redaction/secrets.fixture.ts";
import type { Attack, Place } from "./attack.ts";

// S22: a secret is judged in the whole of what holds it, before a piece is taken.

/** Characters in a row of a secret from which on it is given away. */
const TELLING = 16;

/** How a piece of a file is asked for. */
const ways: Readonly<Record<string, readonly { readonly tool: string; readonly input: object }[]>> = {
  "read in ranges": [
    { tool: "read", input: { path: "notes.txt", start: 3, end: 8 } },
    { tool: "read", input: { path: "notes.txt", start: 9, end: 14 } },
  ],
  "search for base64": [{ tool: "search", input: { pattern: "^[A-Za-z0-9+/]{20,}" } }],
};

export const attacks: readonly Attack[] = Object.entries(ways).map(([name, calls]) => ({
  rule: "S22",
  name: `a private key by ${name}`,
  async attempt(place) {
    const key = privateKey();
    writeFileSync(join(place.folder, "notes.txt"), `how to reach it\n${key}\n`);
    return shown(key, await toldBy(place, calls));
  },
}));

/** All that the model, and whoever reads the output, was told. */
async function toldBy(place: Place, calls: (typeof ways)[string]): Promise<string> {
  await using model = await modelServer({ calls }, { text: "done" });
  const args = ["-p", "go", "--model", "openai-compatible/test", "--output", "jsonl"];
  const { stdout, stderr } = await place.banyan(args, { env: model.env });
  if (model.asked.length < 2) throw new Error(`The model was not told what the tools answered: ${stderr}`);
  return JSON.stringify(model.asked) + stdout + stderr;
}

function shown(secret: string, told: string): string | undefined {
  for (const line of secret.split("\n").filter((line) => !line.startsWith("-----")))
    for (let at = 0; at + TELLING <= line.length; at += 1) {
      const piece = line.slice(at, at + TELLING);
      if (told.includes(piece)) return `${TELLING} characters of the key were told: ${piece}`;
    }
  return undefined;
}
