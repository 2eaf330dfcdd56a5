// The same is asked of two models at once, each on a branch with files of its own; what one of them did is brought over.
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, scriptedModel } from "@banyan/core/testing";
import { bring, compareBranches, fan, openHost } from "@banyan/host";

const home = await mkdtemp(join(tmpdir(), "side-by-side-"));
const notes = join(home, "notes.md");
await writeFile(notes, "Buy milk.\n");
const git = ["-c", "user.name=you", "-c", "user.email=you@example.com"];
for (const line of [
  ["init", "-q"],
  ["add", "notes.md"],
  [...git, "commit", "-qm", "Notes"],
])
  execFileSync("git", line, { cwd: home });

const env = { PATH: process.env.PATH, BANYAN_HOME: join(home, ".banyan") };
const flags = { model: "demo/offline", approval: "all", unconfined: true } as const;
const host = await openHost({ cwd: home, env, home, flags, canAsk: false });
const session = await host.newSession();
const { bring: tool } = await host.ready();
// `host.agentWith("openai/gpt-5")` is the same agent with a model that costs money.
const writing = (id: string, content: string) =>
  host.agent.with({ model: scriptedModel([[call("write", { path: "notes.md", content })], "Done."], { id }) });

const first = await host.agent.send("What is in this project?", { session });
const at = first.message?.id ?? null;
const agents = [writing("one/brief", "Milk.\n"), writing("two/polite", "Please buy milk.\n")];
const branches = await fan(session, agents, { content: "Say it better.", at, worktrees: host.worktrees });
await Promise.allSettled(branches.map(({ turn }) => turn));

for (const { name, outcome, files } of await compareBranches(session.state, host.worktrees, { at }))
  console.log(name, outcome, ...files.map(({ path, added, removed }) => `${path} +${added} -${removed}`));
console.log(`Before: ${await readFile(notes, "utf8")}`.trimEnd());
const from = branches[1]?.message ?? "";
await bring(session, { agent: host.agent, worktrees: host.worktrees, tool, from, to: at ?? "" });
console.log(`After: ${await readFile(notes, "utf8")}`.trimEnd());

await session.close();
await host.close();
await rm(home, { recursive: true });
