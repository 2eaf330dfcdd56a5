import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { say } from "@banyan/core";
import { call, collect, scriptedModel } from "@banyan/core/testing";
import { openHost } from "@banyan/host";
import { openSandbox, type Sandbox } from "@banyan/tools/sandbox";
import type { Measure } from "../measure.ts";

const TIMES = 20;
const PER_TURN = 4;

/** The folders in which a command runs: empty, and a repository of a thousand files. */
const FOLDERS = ["empty folder", "repository"] as const;

export const sandbox: Measure = {
  name: "sandbox",
  what: "`true` in the sandbox, in an empty folder, in a repository of 1,000 files and in a call of the tool `shell`, beside a bubblewrap that closes nothing (S9, S19)",
  subjects: ["bubblewrap alone", ...FOLDERS, "call of the program"],
  bounds: ["bubblewrap alone"],
  figures: [{ name: "time of a command", unit: "ms" }],
  rounds: 5,
  async run(subject) {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "banyan-bench-")));
    try {
      if (subject === "call of the program") return { "time of a command": await timeOfCall(root) };
      if (subject === "repository") fill(root);
      await using place = subject === "bubblewrap alone" ? undefined : await opened(root);
      const run = () => (place ? inside(place, root) : bubblewrap());
      await run();
      const began = performance.now();
      for (let time = 0; time < TIMES; time++) await run();
      return { "time of a command": (performance.now() - began) / TIMES };
    } finally {
      rmSync(root, { recursive: true });
    }
  },
};

/** The time of a call in a turn, with all that the program does around a command. */
async function timeOfCall(root: string): Promise<number> {
  const home = join(root, "home");
  const cwd = join(home, "workspace");
  mkdirSync(cwd, { recursive: true });
  const env = { PATH: process.env.PATH ?? "", BANYAN_HOME: join(home, "banyan"), BANYAN_NO_DISCOVERY: "1" };
  const host = await openHost({ cwd, home, env, flags: { model: "demo/offline", approval: "all" }, canAsk: true });
  await host.ready();
  const session = await host.newSession();
  const run = async (times: number) => {
    const model = scriptedModel([
      ...Array.from({ length: times }, () => [call("shell", { command: "true" })]),
      "Done.",
    ]);
    await collect(host.agent.with({ model }).chat(say("Go on."), { session }));
  };
  await run(1);
  const began = performance.now();
  // The fifth same result of a turn gets a note.
  for (let done = 0; done < TIMES; done += PER_TURN) await run(PER_TURN);
  const time = (performance.now() - began) / TIMES;
  const calls = [...session.state.messages.values()].flatMap((each) => (each.role === "assistant" ? each.calls : []));
  if (calls.length !== TIMES + 1 || calls.some(({ output }) => output !== "[no output]"))
    throw new Error(`A command did not run: ${calls.at(-1)?.output}`);
  await session.close();
  await host.close();
  return time;
}

function fill(root: string): void {
  for (let folder = 0; folder < 20; folder++) {
    mkdirSync(join(root, `folder-${folder}`));
    for (let file = 0; file < 50; file++) writeFileSync(join(root, `folder-${folder}`, `${file}.ts`), "export {};\n");
  }
  const author = ["-c", "user.name=Bench", "-c", "user.email=bench@example.com"];
  for (const args of [
    ["init", "-q"],
    ["add", "."],
    [...author, "commit", "-qm", "All of it"],
  ]) {
    const { status, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
    if (status !== 0) throw new Error(`git ${args.join(" ")} failed: ${stderr}`);
  }
}

async function bubblewrap(): Promise<void> {
  await ended("bwrap", ["--dev-bind", "/", "/", "/bin/sh", "-c", "true"], "/", process.env);
}

async function opened(root: string): Promise<Sandbox> {
  const opening = await openSandbox({ root });
  if (!opening.available) throw new Error(`There is no sandbox here: ${opening.reason}.`);
  return opening.sandbox;
}

async function inside(place: Sandbox, root: string): Promise<void> {
  const environment = { PATH: process.env.PATH ?? "" };
  using program = await place.wrap({ file: "/bin/sh", args: ["-c", "true"], environment });
  await ended(program.file, program.args, root, program.environment);
}

async function ended(
  file: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const child = spawn(file, args, { cwd, env, stdio: "ignore" });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`${file} ended with exit code ${code}.`);
}
