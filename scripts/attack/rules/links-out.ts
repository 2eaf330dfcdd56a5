import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { modelServer, type ServerAnswer } from "../../../packages/cli/src/testing/model-server.ts";
import { swapping } from "../../../packages/tools/src/workspace/files/swapping.fixture.ts";
import type { Attack, Place } from "../attack.ts";

// S21: no tool reads through a link out of the workspace, and read rules apply to every way of reading.

const SECRET = "of-elsewhere-and-not-for-the-model";
const RULE = ["--deny", "read(secret/**)"];

type Calls = NonNullable<ServerAnswer["calls"]>;

const readers: Readonly<Record<string, Calls[number]>> = {
  read: { tool: "read", input: { path: "secret/plan.txt" } },
  "read of a link": { tool: "read", input: { path: "plain.txt" } },
  "search of all": { tool: "search", input: { pattern: SECRET.slice(0, 8) } },
  "search of the folder": { tool: "search", input: { pattern: ".", path: "secret" } },
  "search of the file": { tool: "search", input: { pattern: ".", path: "secret/plan.txt" } },
  "search of a link": { tool: "search", input: { pattern: ".", path: "plain.txt" } },
  "a write over it": { tool: "write", input: { path: "secret/plan.txt", content: "x\n" } },
  "an edit of it": { tool: "edit", input: { path: "secret/plan.txt", old_text: "the", new_text: "x" } },
  "edit mode": { tool: "edit_mode", input: { file_path: "secret/plan.txt", mode: "lines" } },
};

const names = [
  "@notes.txt",
  "@docs/key.txt",
  "@docs/*.txt",
  "@secret/plan.txt",
  "@plain.txt",
  "@secret/*",
  "@**/plan.txt",
];

/** Returns everything that the model got, in a folder with links out of it and a file that a rule closes. */
async function toldBy(place: Place, prompt: string, calls: Calls): Promise<string> {
  const elsewhere = join(place.home, "elsewhere");
  mkdirSync(elsewhere);
  mkdirSync(join(place.folder, "secret"));
  writeFileSync(join(elsewhere, "key.txt"), `${SECRET}\n`);
  writeFileSync(join(place.folder, "secret/plan.txt"), `the ${SECRET}\n`);
  symlinkSync(join(elsewhere, "key.txt"), join(place.folder, "notes.txt"));
  symlinkSync(elsewhere, join(place.folder, "docs"));
  symlinkSync("secret/plan.txt", join(place.folder, "plain.txt"));
  await using model = await modelServer(...(calls.length > 0 ? [{ calls }] : []), { text: "done" });
  const args = ["-p", prompt, "--approval", "edits", "--model", "openai-compatible/test", ...RULE];
  const { stderr } = await place.banyan(args, { env: model.env });
  if (model.asked.length < (calls.length > 0 ? 2 : 1)) throw new Error(`The model was not told: ${stderr}`);
  return JSON.stringify(model.asked);
}

const leaked = (told: string) => (told.includes(SECRET) ? "the model was told what it must not be" : undefined);

const races: Readonly<Record<string, Calls>> = {
  search: Array.from({ length: 30 }, () => ({ tool: "search", input: { pattern: "line" } })),
  "search of the folder": Array.from({ length: 30 }, () => ({ tool: "search", input: { pattern: "line", path: "d" } })),
  read: Array.from({ length: 30 }, (_, at) => ({ tool: "read", input: { path: `d/${at}.txt` } })),
};

const evil = "of the model, where nobody allowed it";

const writers: Readonly<Record<string, Calls>> = {
  write: Array.from({ length: 40 }, (_, at) => ({
    tool: "write",
    input: { path: "link", content: `${evil} ${at}\n` },
  })),
  edit: Array.from({ length: 40 }, (_, at) => ({
    tool: "edit",
    input: { path: "link", old_text: "the", new_text: `the ${evil} ${at}` },
  })),
};

/** Files that need approval or are denied even in mode edits. */
const closed: Readonly<Record<string, readonly string[]>> = {
  ".vscode/tasks.json": [],
  "prod/settings.txt": ["--deny", "write(prod/**)", "--deny", "edit(prod/**)"],
};

export const attacks: readonly Attack[] = [
  ...Object.entries(readers).map(([name, call]) => ({
    rule: "S21" as const,
    name: `a file that a rule on reading closes, by ${name}`,
    attempt: async (place: Place) => leaked(await toldBy(place, "go", [call])),
  })),
  ...names.map((name) => ({
    rule: "S21" as const,
    name: `a file behind a link or a rule, by ${name} in a message`,
    attempt: async (place: Place) => leaked(await toldBy(place, `look at ${name}`, [])),
  })),
  ...Object.entries(races).map(([name, calls]) => ({
    rule: "S21" as const,
    name: `a folder that is swapped for a link meanwhile, by ${name}`,
    async attempt(place: Place) {
      const [folder, elsewhere] = [join(place.folder, "d"), join(place.home, "elsewhere")];
      for (const [at, text] of [
        [folder, "line"],
        [elsewhere, `line ${SECRET}`],
      ] as const) {
        mkdirSync(at);
        for (let file = 0; file < 100; file += 1) writeFileSync(join(at, `${file}.txt`), `${text}\n`);
      }
      await using _ = await swapping(folder, elsewhere);
      await using model = await modelServer({ calls }, { text: "done" });
      await place.banyan(["-p", "go", "--model", "openai-compatible/test"], { env: model.env });
      if (model.asked.length < 2) throw new Error("The model was not told what the tools answered.");
      return leaked(JSON.stringify(model.asked));
    },
  })),
  ...Object.entries(writers).flatMap(([name, calls]) =>
    Object.entries(closed).map(([target, rules]) => ({
      rule: "S21" as const,
      name: `${target}, written by ${name} through a link that is swapped meanwhile`,
      async attempt(place: Place) {
        for (const file of ["free.txt", target]) {
          mkdirSync(dirname(join(place.folder, file)), { recursive: true });
          writeFileSync(join(place.folder, file), "the\n");
        }
        place.defer(await swappingLink(join(place.folder, "link"), ["free.txt", target]));
        await using model = await modelServer(...calls.map((call) => ({ calls: [call] })), { text: "done" });
        const args = ["-p", "go", "--approval", "edits", "--max-steps", "60", "--model", "openai-compatible/test"];
        await place.banyan([...args, ...rules], { env: model.env });
        if (model.asked.length < calls.length) throw new Error("The calls were not made.");
        return readFileSync(join(place.folder, target), "utf8").includes(evil) ? "it was written" : undefined;
      },
    })),
  ),
];

/** Creates a link that alternates between targets at random moments. The result stops it. */
async function swappingLink(link: string, targets: readonly string[]): Promise<() => void> {
  const swap = `const { renameSync, symlinkSync } = require("node:fs");
const [link, ...targets] = process.argv.slice(1);
for (let at = 0; ; at++) {
  symlinkSync(targets[at % targets.length], link + ".new");
  renameSync(link + ".new", link);
  if (at === 0) process.send("ready");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * 3);
}`;
  const child = spawn(process.execPath, ["-e", swap, link, ...targets], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await once(child, "message");
  return () => void child.kill("SIGKILL");
}
