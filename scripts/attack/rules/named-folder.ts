import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { modelServer, type ServerAnswer } from "../../../packages/cli/src/testing/model-server.ts";
import type { Attack, Place } from "../attack.ts";
import { openScreen, TERMINALS } from "../question.fixture.ts";
import type { AttackedScreen } from "../screen.fixture.ts";

// S31: no call runs, and no file is written, in another folder than the approval prompt named.

/** Calls that leave a mark in their folder, and how the mark shows the folder. */
const tools: Readonly<Record<string, { readonly input: object; landed(folders: readonly string[]): string[] }>> = {
  shell: {
    input: { command: "cd sub && cd .. && pwd > where.txt" },
    landed: (folders) =>
      folders
        .map((folder) => join(folder, "where.txt"))
        .filter((file) => existsSync(file))
        .map((file) => readFileSync(file, "utf8").trim()),
  },
  write: {
    input: { path: "sub/made.txt", content: "made\n" },
    landed: (folders) => folders.filter((folder) => existsSync(join(folder, "sub/made.txt"))),
  },
  edit: {
    input: { path: "sub/notes.txt", old_text: "one", new_text: "two" },
    landed: (folders) => folders.filter((folder) => readFileSync(join(folder, "sub/notes.txt"), "utf8") === "two\n"),
  },
};

const said = { text: "Well." };
const launch = { calls: [{ tool: "launch_agent", input: { task: "Do it.", expected_output: "a word" } }] };
const finish = { calls: [{ tool: "finish_task", input: { result: "done" } }] };

const places: Readonly<
  Record<string, { readonly before: readonly string[]; answers(call: ServerAnswer): readonly ServerAnswer[] }>
> = {
  "after a command that changed the folder": {
    before: [],
    answers: (call) => [{ calls: [{ tool: "list", input: { path: "sub" } }] }, call, said],
  },
  "on a branch with a worktree": { before: ["/worktree mine"], answers: (call) => [call, said] },
  "in a sub-agent of a branch with a worktree": {
    before: ["/worktree mine"],
    answers: (call) => [launch, call, finish, said],
  },
};

function repository(folder: string): void {
  mkdirSync(join(folder, "sub"));
  writeFileSync(join(folder, "sub/notes.txt"), "one\n");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=P", "-c", "user.email=p@example.com", ...args], { cwd: folder });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
}

function foldersOf(place: Place): readonly string[] {
  const found = globSync("**/sub/notes.txt", { cwd: join(place.home, ".banyan", "worktrees") });
  return [place.folder, ...found.map((file) => join(place.home, ".banyan", "worktrees", dirname(dirname(file))))];
}

/** A prompt ignores keys that are pressed just when it appears (S14). */
async function allow(screen: AttackedScreen, terminal: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    if (terminal === "the full terminal") screen.press("y");
    else screen.enter("y");
    const soon = AbortSignal.any([signal, AbortSignal.timeout(3_000)]);
    const isOver = await screen.until(/Well\.[\s\S]*Well\./, soon).then(
      () => true,
      () => false,
    );
    if (isOver) return;
    signal.throwIfAborted();
  }
}

export const attacks: readonly Attack[] = TERMINALS.flatMap((terminal) =>
  Object.entries(places).flatMap(([where, { before, answers }]) =>
    Object.entries(tools).map(
      ([tool, { input, landed }]): Attack => ({
        rule: "S31",
        name: `${tool} ${where}, asked about at ${terminal}`,
        async attempt(place) {
          repository(place.folder);
          await using model = await modelServer(said, ...answers({ calls: [{ tool, input }] }));
          const screen = await openScreen(place, terminal, model.env);
          const prompt = /Reply to banyan: *─*\s*(?:(?:chat|task) · [^\n]*)?\s*$/;
          await screen.until(prompt, place.signal);
          screen.enter("hello");
          await screen.until(/Well\./, place.signal);
          for (const line of before) {
            screen.enter(line);
            await screen.until(/Your next message works in the worktree/, place.signal);
          }
          await screen.until(prompt, place.signal);
          screen.enter("go");
          const asked = await screen.until(/^Allow this\?/m, place.signal);
          const flat = asked.slice(asked.indexOf("asks to run")).replaceAll(/[─\s]/g, "");
          await allow(screen, terminal, place.signal);
          const folders = landed(foldersOf(place));
          const [folder] = folders;
          if (folder === undefined || folders.length > 1)
            throw new Error(`It landed in ${folders.length} folders.\n${asked}`);
          if (before.length > 0 === (folder === place.folder)) throw new Error(`It worked in ${folder}.`);
          const named = `askstorun${tool}in${folder}`;
          return flat.startsWith(named) && flat[named.length] !== "/"
            ? undefined
            : `it worked in ${folder}, and the question said: ${flat.slice(0, 200)}`;
        },
      }),
    ),
  ),
);
