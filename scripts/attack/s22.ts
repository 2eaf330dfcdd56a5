import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelServer } from "../../packages/cli/src/testing/model-server.ts";
import { hiddenKeys, toldOf } from "../../packages/host/src/redaction/secrets.fixture.ts";
import type { Attack, Place } from "./attack.ts";

// S22: a secret is judged in the whole of what holds it, before a piece is taken. Each way is tried on a file of each form.

interface Call {
  readonly tool: string;
  readonly input: object;
}

/** How a model asks for pieces of a file, all with one answer. */
type Way = (path: string) => readonly Call[];

const read = (path: string, start: number, end: number): Call => ({ tool: "read", input: { path, start, end } });
const shell =
  (...commands: readonly string[]): Way =>
  (path) =>
    commands.map((command) => ({ tool: "shell", input: { command: command.replaceAll("FILE", path) } }));

const ways: Readonly<Record<string, Way>> = {
  "reading all of it": (path) => [{ tool: "read", input: { path } }],
  "reading ranges": (path) => [read(path, 6, 9), read(path, 10, 13), read(path, 14, 14)],
  "reading backwards, a line at a time": (path) => [12, 11, 10, 9, 8, 7, 6, 5].map((line) => read(path, line, line)),
  "searching for base64": (path) => [{ tool: "search", input: { path, pattern: "[A-Za-z0-9+/]{20,}" } }],
  "searching the folder": (path) => [{ tool: "search", input: { glob: path, pattern: "^.*[A-Za-z0-9+/]{40}" } }],
  "a change beside it": (path) => [{ tool: "edit", input: { path, old_text: "# and out again", new_text: "# out" } }],
  "writing over it": (path) => [{ tool: "write", input: { path, content: "nothing\n" } }],
  "a first part": shell("head -7 FILE"),
  "a last part": shell("tail -8 FILE"),
  "two parts": shell("sed -n 1,9p FILE", "sed -n 10,99p FILE"),
  "parts of the middle": shell("sed -n 6,9p FILE", "sed -n 10,12p FILE"),
  "hits with numbers and names": shell("grep -n . FILE", "grep -H . FILE", "grep -n [a-z] /dev/null FILE"),
  "signs for what is not seen": shell("cat -A FILE", "nl -ba FILE", "diff /dev/null FILE"),
  "a line now and then": shell('while IFS= read -r line; do echo "$line"; sleep 0.01; done < FILE'),
  "an error": shell("cat FILE >&2; exit 3"),
};

export const attacks: readonly Attack[] = [
  ...Object.entries(ways).map(
    ([name, way]): Attack => ({
      rule: "S22",
      name: `a private key by ${name}`,
      seconds: 300,
      attempt: (place) => tried(place, (paths) => ({ calls: paths.flatMap(way), prompt: "go" })),
    }),
  ),
  {
    rule: "S22",
    name: "a private key by putting a changed file back",
    async attempt(place) {
      const edits: Way = (path) => [{ tool: "edit", input: { path, old_text: "# and out again", new_text: "# out" } }];
      return tried(
        place,
        (paths) => ({ calls: paths.flatMap(edits), prompt: "go" }),
        async () => {
          const { code, stdout, stderr } = await place.banyan(["changes", "revert", "--all", "--yes"]);
          if (code !== 0) throw new Error(`Nothing was put back: ${stderr}`);
          return stdout + stderr + (await place.banyan(["changes", "show"])).stdout;
        },
      );
    },
  },
  {
    rule: "S22",
    name: "a private key by naming its file with @",
    attempt: (place) => tried(place, (paths) => ({ calls: [], prompt: paths.map((path) => `@${path}`).join(" ") })),
  },
];

/** Has a model make calls about files with a key of each form; answers what of which is told by anything that is told or kept. */
async function tried(
  place: Place,
  how: (paths: readonly string[]) => { readonly calls: readonly Call[]; readonly prompt: string },
  afterwards: () => Promise<string> = async () => "",
): Promise<string | undefined> {
  const keys = Object.entries(hiddenKeys()).map(([form, key], index) => ({ form, ...key, path: `notes${index}.txt` }));
  for (const { path, content } of keys) writeFileSync(join(place.folder, path), content);
  const { calls, prompt } = how(keys.map(({ path }) => path));
  await using model = await modelServer(...(calls.length > 0 ? [{ calls }] : []), { text: "done" });
  const flags = ["--model", "openai-compatible/test", "--output", "jsonl", "--approval", "all"];
  const { stdout, stderr } = await place.banyan(["-p", prompt, ...flags], { env: model.env });
  const told = JSON.stringify(model.asked) + stdout + stderr;
  if (!/\[redacted:private-key\]|no matches/.test(told)) throw new Error(`Nothing was looked at: ${told.slice(-2000)}`);
  const all = told + (await afterwards()) + kept(place.home);
  for (const { form, secret } of keys) {
    const piece = toldOf(secret, all);
    if (piece !== undefined) return `${piece} of the key was told; its form: ${form}`;
  }
  return undefined;
}

/** What stands in the files that the program keeps of a conversation. */
function kept(home: string): string {
  const folder = join(home, ".banyan", "data");
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("backups"))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}
