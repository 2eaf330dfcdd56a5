import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { worktreeAt } from "@banyan/core/conversation";
import { describe, expect, test } from "vitest";
import { branchHandover, bringOptions } from "./bring.ts";
import { filesIn, KINDS, PersonsRepository } from "./repository.fixture.ts";
import { Repository } from "./repository.ts";
import { Worktrees } from "./worktrees.ts";

const isLong = process.env.BANYAN_LONG === "1";

describe("a branch with files of its own", () => {
  test.each(KINDS)("C7: has what is not committed, and the person's files stay as they are: %s", async (kind) => {
    using person = PersonsRepository.of(kind);
    const worktrees = person.open();
    const session = await person.session();
    const before = person.fingerprint;
    const [place] = await worktrees.open(session, session.state.leaf, ["attempt"]);
    expect(place?.worktree).toBe("attempt");
    expect(person.fingerprint).toBe(before);
    const { top } = await worktrees.find("attempt", session.id);
    // Submodules stay empty, and ignored files are left out.
    const expected = filesIn(person.top).filter(([path]) => !/^(ignored|module)\//.test(path));
    expect(filesIn(top)).toEqual(expected);
    // Staged changes are neither committed nor staged in the worktree.
    const status = (folder: string) => person.git(folder, "status", "--short", "-uall").replaceAll(/^../gm, "");
    expect(status(top).split("\n").toSorted()).toEqual(status(person.top).split("\n").toSorted());
    expect(await worktrees.changes("attempt", session.id)).toEqual({ files: [], commits: 0 });
    const folder = await worktrees.folderAt(session.state, place?.at);
    expect(folder).toBe(join(top, kind === "below" ? "src" : ""));
    expect(await worktrees.folderAt(session.state, session.state.messages.get(place?.at ?? "")?.parentId)).toBe(
      person.workspace,
    );
    await worktrees.remove("attempt");
    expect(person.left).toEqual([]);
    expect(person.fingerprint).toBe(before);
    // The removed worktree's name is still in the conversation, so it is not reused.
    const [another] = await worktrees.open(session, null, ["attempt"]);
    expect(another?.worktree).toBe("attempt-2");
  });

  test("F107: a file whose mode alone changed is brought over with its mode", async () => {
    using person = PersonsRepository.of("plain");
    const worktrees = person.open();
    const session = await person.session();
    const [trunk, path] = [session.state.leaf ?? "", "src/0/file-0.txt"];
    const [place] = await worktrees.open(session, trunk, ["attempt"]);
    chmodSync(join(await worktrees.folderOf("attempt", session.id), path), 0o755);
    const brought = await branchHandover(session.state, worktrees, { from: place?.at ?? "", to: trunk });
    expect(brought.patch).toEqual({ from: "attempt", files: [path] });
    const { incoming } = bringOptions(worktrees, { env: process.env, whyNotReadIn: () => undefined });
    const about = { context: undefined, conversation: session.state, path: [], signal: new AbortController().signal };
    const there = await incoming("attempt", path, about);
    expect(there).toMatchObject({ hasOwnMode: true, there: { mode: "100755" }, base: { mode: "100644" } });
    expect(there.there?.content).toEqual(there.base?.content);
    await session.close();
  });

  test("F107: links and modes without git are brought over, and a notice names a submodule with a remedy", async () => {
    using person = PersonsRepository.of("submodules");
    const [shared, moved] = ["src/0/file-0.txt", "src/1/link"];
    symlinkSync("file-1.txt", join(person.top, moved));
    const worktrees = person.open();
    const session = await person.session();
    const trunk = session.state.leaf ?? "";
    // With a umask other than the user's, checked-out files have other modes than the user's files.
    const umask = process.umask(0o077);
    const [place] = await worktrees.open(session, trunk, ["attempt"]).finally(() => process.umask(umask));
    const folder = await worktrees.folderOf("attempt", session.id);
    expect((await worktrees.changes("attempt", session.id)).files).toEqual([]);
    chmodSync(join(folder, shared), 0o640);
    rmSync(join(folder, moved));
    symlinkSync("../0/file-0.txt", join(folder, moved));
    person.git(folder, "-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init");
    person.write(join(folder, "module"), "more.txt", "more\n");
    person.commit(join(folder, "module"), "more");
    const brought = await branchHandover(session.state, worktrees, { from: place?.at ?? "", to: trunk });
    expect(brought.patch?.files.toSorted()).toEqual([shared, moved]);
    const commands = `git -C module fetch ${join(folder, "module")} HEAD && git -C module checkout FETCH_HEAD`;
    expect(brought.problems).toEqual([
      `module is not brought over: it is a submodule. Commit in it there, then run here: ${commands}`,
    ]);
    const { incoming } = bringOptions(worktrees, { env: process.env, whyNotReadIn: () => undefined });
    const about = { context: undefined, conversation: session.state, path: [], signal: new AbortController().signal };
    expect(await incoming("attempt", shared, about)).toMatchObject({ hasOwnMode: true, there: { mode: "100640" } });
    const found = await incoming("attempt", moved, about);
    const text = (entry: typeof found.there) => [entry?.mode, entry?.content.toString()];
    expect([text(found.base), text(found.there)]).toEqual([
      ["120000", "file-1.txt"],
      ["120000", "../0/file-0.txt"],
    ]);
    // The commands in the message work.
    person.git(person.top, "-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init");
    execFileSync("sh", ["-c", commands], { cwd: person.top, env: person.env, stdio: "ignore" });
    expect(readFileSync(join(person.top, "module/more.txt"), "utf8")).toBe("more\n");
    await session.close();
  });

  test("C7: the branch's beginning reports the worktree, and lists its content", async () => {
    using person = PersonsRepository.of("plain");
    const worktrees = person.open();
    const session = await person.session();
    const places = await worktrees.open(session, null, ["opus", "opus", "gpt/5: a..b"]);
    expect(places.map(({ worktree }) => worktree)).toEqual(["opus", "opus-2", "gpt-5-a.b"]);
    const told = session.state.messages.get(places[1]?.at ?? "");
    expect(told).toMatchObject({ role: "user", author: "system", worktree: "opus-2", parentId: null });
    expect(JSON.stringify(told)).toContain(await worktrees.folderOf("opus-2", session.id));
    const folder = await worktrees.folderOf("opus", session.id);
    writeFileSync(join(folder, "new.txt"), "new\nand more\n");
    rmSync(join(folder, "src/0/file-0.txt"));
    writeFileSync(join(folder, "made.txt"), "1\n2\n");
    person.commit(folder, "work");
    writeFileSync(join(folder, "bytes"), Buffer.from([0, 1, 2]));
    const all = await worktrees.list();
    const listed = all.find(({ name }) => name === "opus");
    const others = all.filter((each) => each !== listed);
    expect(others.map(({ files }) => files.length)).toEqual([0, 0]);
    expect(listed).toMatchObject({ name: "opus", folder, conversation: session.id, isGone: false, commits: 1 });
    expect(listed?.files).toEqual([
      { path: "bytes", kind: "created", mode: "100644", added: 0, removed: 0 },
      { path: "made.txt", kind: "created", mode: "100644", added: 2, removed: 0 },
      { path: "new.txt", kind: "changed", mode: "100644", added: 1, removed: 0 },
      { path: "src/0/file-0.txt", kind: "deleted", mode: "000000", added: 0, removed: 4 },
    ]);
    await expect(worktrees.remove("opus")).rejects.toThrow(
      "The worktree opus has 4 changed files and 1 commit. Bring the changes over first, or remove the worktree together with its changes.",
    );
    expect(existsSync(folder)).toBe(true);
    await worktrees.remove("opus", { changes: true });
    expect(existsSync(folder)).toBe(false);
    await expect(worktrees.remove("opus")).rejects.toThrow("There is no worktree opus.");
  });

  test("C7: a file that was changed at once, with the same size, is changed", async () => {
    using person = PersonsRepository.of("plain");
    const session = await person.session();
    // The worktree has the user's latest changes, and its own latest change is found.
    person.write(person.top, "src/3/file-3.txt", "src/3/file-3.txt\none\nTWO\nthree\n");
    const worktrees = person.open();
    await worktrees.open(session, null, ["attempt"]);
    const folder = await worktrees.folderOf("attempt", session.id);
    expect(readFileSync(join(folder, "src/3/file-3.txt"), "utf8")).toContain("TWO");
    writeFileSync(join(folder, "src/4/file-4.txt"), "src/4/file-4.txt\nONE\ntwo\nthree\n");
    expect((await worktrees.changes("attempt", session.id)).files).toMatchObject([{ path: "src/4/file-4.txt" }]);
  });

  test("C7: a branch of a branch has the files of that one", async () => {
    using person = PersonsRepository.of("plain");
    const worktrees = person.open();
    const session = await person.session();
    const [first] = await worktrees.open(session, session.state.leaf, ["first"]);
    const folder = await worktrees.folderAt(session.state, first?.at);
    writeFileSync(join(folder, "made.txt"), "made\n");
    const [second] = await worktrees.open(session, first?.at ?? null, ["second"]);
    const inner = await worktrees.folderAt(session.state, second?.at);
    expect(worktreeAt(session.state, second?.at)).toBe("second");
    expect(readFileSync(join(inner, "made.txt"), "utf8")).toBe("made\n");
    expect((await worktrees.changes("second", session.id)).files).toEqual([]);
  });

  test("C7: a worktree waits for another program that makes it", async () => {
    using person = PersonsRepository.of("plain");
    const repository = await Repository.around(person.workspace, person.env);
    const part = join(repository.common, "worktrees", "part");
    mkdirSync(part, { recursive: true });
    writeFileSync(join(part, "gitdir"), join(person.root, "part", ".git"));
    writeFileSync(join(part, "commondir"), "");
    expect(() => person.git(person.top, "worktree", "list")).toThrow("failed to read");
    const worktree = { name: "mine", top: join(person.worktrees, "mine"), conversation: "c" };
    mkdirSync(worktree.top, { recursive: true });
    const added = repository.add([worktree], await repository.snapshot(person.top));
    await expect(Promise.race([added, sleep(300, "waits")])).resolves.toBe("waits");
    rmSync(part, { recursive: true });
    await added;
    expect(repository.list(person.worktrees)).toEqual([worktree]);
  });

  test.skipIf(!isLong)(
    "C7: several programs that make worktrees of one repository at once all get theirs",
    async () => {
      using person = PersonsRepository.of("plain");
      const [programs, each] = [4, 10];
      const script = `
      import { mkdirSync } from "node:fs";
      import { join } from "node:path";
      import { Repository } from ${JSON.stringify(new URL("./repository.ts", import.meta.url).href)};
      const [program, workspace, below, each, env] = process.argv.slice(1);
      const repository = await Repository.around(workspace, JSON.parse(env));
      const snapshot = await repository.snapshot(repository.top);
      const worktrees = Array.from({ length: Number(each) }, (_, index) => {
        const name = program + "-" + index;
        return { name, top: join(below, name), conversation: program };
      });
      for (const { top } of worktrees) mkdirSync(top, { recursive: true });
      await Promise.all(worktrees.map((worktree) => repository.add([worktree], snapshot)));`;
      const run = promisify(execFile);
      await Promise.all(
        Array.from({ length: programs }, (_, program) => {
          const given = [`p${program}`, person.workspace, person.worktrees, String(each), JSON.stringify(person.env)];
          return run(process.execPath, ["--input-type=module", "-e", script, ...given]);
        }),
      );
      const made = (await Repository.around(person.workspace, person.env)).list(person.worktrees);
      expect(made).toHaveLength(programs * each);
      const expected = filesIn(person.top).filter(([path]) => !path.startsWith("ignored/"));
      for (const { top } of made) expect(filesIn(top)).toEqual(expected);
    },
  );

  test("C7: the next opening removes the rest of an ended process", async () => {
    using person = PersonsRepository.of("plain");
    const session = await person.session();
    const before = person.fingerprint;
    const worktrees = person.open();
    const places = await worktrees.open(session, session.state.leaf, ["owned", "left", "half", "full"]);
    const full = await worktrees.folderOf("full", session.id);
    writeFileSync(join(full, "made.txt"), "made\n");
    const half = await worktrees.find("half", session.id);
    person.git(half.top, "update-ref", "-d", "refs/worktree/banyan-base");
    rmSync(join(half.top, "new.txt"));
    const owned = session.state.messages.get(places[0]?.at ?? "");
    const known = new Map(owned ? [[owned.id, owned]] : []);
    // A sweep for another conversation removes nothing.
    await person.open().sweep("another", undefined);
    expect(await person.open().list()).toHaveLength(4);
    await person.open().sweep(session.id, { messages: known });
    expect((await person.open().list()).map(({ name }) => name)).toEqual(["full", "owned"]);
    await person.open().sweepGone({ list: async () => [] });
    expect(await person.open().list()).toHaveLength(2);
    await person.open().remove("full", { changes: true });
    await person.open().sweep(session.id, undefined);
    expect(person.left).toEqual([]);
    expect(person.fingerprint).toBe(before);
  });
});

describe("what cannot be", () => {
  const make = async (person: PersonsRepository, workspace: string, folder = person.worktrees) => {
    const session = await person.session();
    const made = new Worktrees({ folder, workspace, env: person.env }).open(session, null, ["attempt"]);
    await made.finally(() => expect(session.state.messages.size).toBe(1)).catch(() => {});
    return made;
  };

  test("C7: no repository, a bare one, and one without a commit are said in a sentence", async () => {
    using person = PersonsRepository.of("plain");
    const place = (name: string, ...args: string[]) => {
      const folder = join(person.root, name);
      mkdirSync(folder);
      if (args.length > 0) person.git(folder, ...args);
      return folder;
    };
    const none = place("none");
    await expect(make(person, none)).rejects.toThrow(
      `${none} is not in a git repository, so a branch cannot have a worktree of its own. To create a repository, run \`git init\`.`,
    );
    const bare = place("bare.git", "init", "-q", "--bare");
    await expect(make(person, bare)).rejects.toThrow(
      `${bare} is a repository without files (bare), so a branch cannot have a worktree of its own. Work in a clone of that repository.`,
    );
    const empty = place("empty", "init", "-q");
    await expect(make(person, empty)).rejects.toThrow(
      `The repository ${empty} has no commit yet, so Banyan cannot make a worktree. Commit something first.`,
    );
    await expect(make(person, join(person.root, "nowhere"))).rejects.toThrow(
      /git is not installed, or the folder is gone/,
    );
    const without = new Worktrees({ folder: person.worktrees, workspace: person.top, env: { PATH: "/nowhere" } });
    await expect(without.list()).rejects.toThrow(/git is not installed/);
  });

  test("C7: a place that may not be written is said in a sentence", async () => {
    using person = PersonsRepository.of("plain");
    await expect(make(person, person.top, join(person.top, "new.txt", "worktrees"))).rejects.toThrow(
      /^The worktree attempt could not be made: ENOTDIR: not a directory, .*\.$/,
    );
    expect(person.left).toEqual([]);
  });

  test("C7: where git refuses halfway, one sentence says why and nothing is left", async () => {
    using person = PersonsRepository.of("plain");
    const before = person.fingerprint;
    // git cannot make branches below a branch with this name.
    person.git(person.top, "update-ref", "refs/heads/banyan", "HEAD");
    await expect(make(person, person.top)).rejects.toThrow(
      /^The worktree attempt could not be made: .*refs\/heads\/banyan.*\.$/,
    );
    person.git(person.top, "update-ref", "-d", "refs/heads/banyan");
    expect(person.left).toEqual([]);
    expect(person.fingerprint).toBe(before);
  });

  test("C7: a worktree that somebody removed by hand, or that is another conversation's, is said in a sentence", async () => {
    using person = PersonsRepository.of("plain");
    const worktrees = person.open();
    const session = await person.session();
    const [place] = await worktrees.open(session, null, ["attempt"]);
    const folder = await worktrees.folderOf("attempt", session.id);
    await expect(person.open().folderOf("attempt", "another")).rejects.toThrow(
      "The worktree attempt belongs to another conversation.",
    );
    await expect(person.open().folderOf("../../etc", session.id)).rejects.toThrow("of this branch no longer exists");
    rmSync(folder, { recursive: true });
    await expect(worktrees.folderAt(session.state, place?.at)).rejects.toThrow(
      "The worktree attempt of this branch no longer exists. Continue from a message before the worktree began, or on another branch.",
    );
    expect(await worktrees.list()).toMatchObject([{ name: "attempt", isGone: true, files: [] }]);
    await worktrees.remove("attempt");
    expect(person.left).toEqual([]);
    expect(readdirSync(person.top)).toContain("new.txt");
  });
});
