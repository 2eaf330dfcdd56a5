import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelServer, type ServerAnswer } from "../../../packages/cli/src/testing/model-server.ts";
import { connect } from "../../../packages/client/src/link/node-link.ts";
import { plantPrograms } from "../../../packages/tools/src/workspace/files/planted.fixture.ts";
import type { Attack, Place } from "../attack.ts";

// S16: an untrusted folder makes no program run, and does not block Banyan.

const WAYS = ["config", "gitdir", "commondir", "include"] as const;

const calls: NonNullable<ServerAnswer["calls"]> = [
  { tool: "list", input: { path: ".", depth: 5 } },
  { tool: "search", input: { pattern: "needle" } },
  { tool: "read", input: { path: "notes.md" } },
  { tool: "write", input: { path: "new.md", content: "new\n" } },
  { tool: "edit", input: { path: "notes.md", old_text: "needle", new_text: "thread" } },
];

const MODEL = ["--model", "openai-compatible/test"];

/** Commits the content of a folder without running programs of the folder. */
function commitAll(folder: string): void {
  const off = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "user.name=x", "user.email=x@localhost"];
  for (const setting of ["clean", "smudge", "process"]) off.push(`filter.planted.${setting}=`);
  const git = (...args: string[]) =>
    execFileSync("git", [...[...off, "filter.planted.required=false"].flatMap((each) => ["-c", each]), ...args], {
      cwd: folder,
      env: { PATH: "/usr/bin:/bin:/usr/local/bin" },
      stdio: "ignore",
    });
  rmSync(join(folder, "sub"), { recursive: true });
  git("add", "notes.md", ".gitattributes", "tools");
  git("commit", "-qm", "first");
}

const doings: Readonly<Record<string, (place: Place, env: Readonly<Record<string, string>>) => Promise<void>>> = {
  async "file.find at the server"(place, env) {
    const token = "a-token-of-an-attack";
    const server = place.start(["serve", "--port", "0", ...MODEL], { env: { ...env, BANYAN_TOKEN: token } });
    let said = "";
    server.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
    while (!said.includes("/?token=")) await once(server.stdout, "data");
    const [address = ""] = /http:\/\/[^/]*/.exec(said) ?? [];
    const remote = await connect({ address, token, client: "an attack" });
    try {
      const { files } = await remote.ask("file.find", { query: "notes" });
      if (!files.includes("notes.md")) throw new Error(`The files were not found: ${files.join(", ")}`);
    } finally {
      remote.close();
    }
  },
  async "a worktree at the server"(place, env) {
    commitAll(place.folder);
    const token = "a-token-of-an-attack";
    const server = place.start(["serve", "--port", "0", ...MODEL], { env: { ...env, BANYAN_TOKEN: token } });
    let said = "";
    server.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
    while (!said.includes("/?token=")) await once(server.stdout, "data");
    const [address = ""] = /http:\/\/[^/]*/.exec(said) ?? [];
    const remote = await connect({ address, token, client: "an attack" });
    try {
      const { conversation } = await remote.ask("conversation.create", {});
      const { worktree } = await remote.ask("worktree.open", { conversation, at: null });
      const { worktrees } = await remote.ask("worktree.list", {});
      const [{ folder = "" } = {}] = worktrees;
      writeFileSync(join(folder, "notes.md"), "thread\n");
      await remote.ask("message.add", { conversation, at: null, parts: [{ type: "text", text: "Here." }] });
      await remote.ask("worktree.list", {});
      await remote.ask("worktree.remove", { name: worktree, changes: true });
    } finally {
      remote.close();
    }
  },
  async "a run of all file tools"(place, env) {
    const run = await place.banyan(["-p", "go @notes.md @tools/", "--approval", "edits", ...MODEL], { env });
    if (run.code !== 0) throw new Error(`It ended with ${run.code}: ${run.stderr}`);
  },
  async "banyan changes"(place, env) {
    const run = await place.banyan(["-p", "go", "--approval", "edits", "--output", "json", ...MODEL], { env });
    const { conversation } = JSON.parse(run.stdout);
    const { stdout, stderr } = await place.banyan(["changes", conversation], { env });
    if (!`${stdout}${stderr}`.includes("new.md")) throw new Error(`There were no changes: ${stdout}${stderr}`);
  },
};

/** So many levels that each further part of a pattern multiplies the cost of a match. */
const DEEP = Array(150).fill("a").join("/");

const looks: Readonly<Record<string, { readonly prompt: string; readonly calls: NonNullable<ServerAnswer["calls"]> }>> =
  {
    "`list`": { prompt: "go", calls: [{ tool: "list", input: { path: DEEP } }] },
    "`search`": { prompt: "go", calls: [{ tool: "search", input: { pattern: "needle" } }] },
    "`@` of a folder": { prompt: `go @${DEEP}/`, calls: [{ tool: "list", input: { path: "." } }] },
  };

const slow = Object.entries(looks).map(
  ([name, { prompt, calls }]): Attack => ({
    rule: "S16",
    name: `an ignore file that takes for ever to be tried, by ${name}`,
    seconds: 60,
    async attempt(place) {
      mkdirSync(join(place.folder, DEEP), { recursive: true });
      writeFileSync(join(place.folder, DEEP, "end.txt"), "needle\n");
      writeFileSync(join(place.folder, ".gitignore"), `${"**/a/".repeat(8)}b\n/${"a/**/".repeat(8)}b\n`);
      await using model = await modelServer({ calls }, { text: "done" });
      const run = await place.banyan(["-p", prompt, ...MODEL], { env: model.env });
      if (model.asked.length < 2) throw new Error(`The model was not told: ${run.stderr}`);
      return undefined;
    },
  }),
);

const planted = Object.entries(doings).flatMap(([name, act]) =>
  WAYS.map((way) => ({
    rule: "S16" as const,
    name: `programs that a folder names in its settings of git (${way}) and in PATH, by ${name}`,
    async attempt(place: Place) {
      const programs = plantPrograms(place.folder, way);
      await using model = await modelServer({ calls }, { text: "done" });
      const acted = act(place, { ...model.env, PATH: programs.path });
      // A program that ran may also have broken the action, so report the program first.
      await acted.catch(() => {});
      const ran = programs.ran();
      if (ran !== "") return `it ran: ${ran.slice(0, 300)}`;
      await acted;
      return undefined;
    },
  })),
);

export const attacks: readonly Attack[] = [...planted, ...slow];
