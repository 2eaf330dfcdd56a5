import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openWorkspace, shellTool } from "../workspace/index.ts";
import { call, TestFolder } from "../workspace/test-folder.fixture.ts";
import { edgeNotes } from "./edge-notes.ts";
import { placeLimit } from "./place-limits.ts";
import { sandboxOf, whyNoSandbox } from "./sandbox.fixture.ts";

const reason = await whyNoSandbox();

const TABLE = {
  writable: ["/work/project", "/srv/cache"],
  writeDenied: ["/work/project/migrations"],
  readDenied: ["/home/me", "/home/me/.cargo/credentials.toml", "/etc/shadow"],
  readable: ["/home/me/.cargo"],
  caches: ["/home/me/.cache/uv"],
  repositories: ["/work/main/.git"],
};

test.each([
  ["/work/project", undefined],
  ["/work/project/src/a.ts", undefined],
  ["/work/projects", "read-only"],
  ["/work/project/migrations/1.sql", "read-only"],
  ["/work/project/sub/.vscode/settings.json", "read-only"],
  ["/work/project/.git/index", undefined],
  ["/work/project/.git/hooks/pre-commit", "read-only"],
  ["/work/main/.git/refs/heads/a", undefined],
  ["/srv/cache/a", undefined],
  ["/usr/lib/a", "read-only"],
  ["/home/me/notes.txt", "hidden"],
  ["/home/me/.cargo/registry", "read-only"],
  ["/home/me/.cargo/credentials.toml", "hidden"],
  ["/home/me/.cache/uv/a", undefined],
  ["/etc/shadow", "hidden"],
])("S40: the sandbox's own table says of %s: %s", (path, limit) => {
  expect(placeLimit(path, TABLE)).toBe(limit);
});

const notes = (output: string) =>
  edgeNotes(output, {
    folder: "/work/project",
    home: "/home/me",
    placeLimit: (path) => placeLimit(path, TABLE),
  });

test.each([
  ["curl: (6) Could not resolve host: example.org", /it has no direct network/],
  ["ssh: connect to host 192.0.2.1 port 22: Network is unreachable", /it has no direct network/],
  ["Error: getaddrinfo EAI_AGAIN example.org", /it has no direct network/],
  ["touch: cannot touch '/usr/lib/a': Read-only file system", /\/usr\/lib\/a is read-only there/],
  [
    "/bin/bash: line 1: /usr/lib/a: Read-only file system",
    /^Probably the sandbox: \/usr\/lib\/a is read-only there\.$/,
  ],
  ["EROFS: read-only file system, open '/home/me/.cargo/registry/a'", /\.cargo\/registry\/a is read-only there/],
  ["cat: ~/.ssh/config: No such file or directory", /it hides \/home\/me\/\.ssh\/config/],
  ["Error: ENOENT: no such file or directory, open '/home/me/notes.txt'", /it hides \/home\/me\/notes\.txt/],
  ["Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", /no local socket, so Docker/],
  ["Could not open a connection to your authentication agent.", /no local socket, so the SSH agent/],
  ["connect to /run/mysqld/mysqld.sock failed: No such file or directory", /no local socket, so \/run\/mysqld/],
  ["qemu: could not open /dev/kvm: No such file or directory", /it has no device \/dev\/kvm/],
])("S40: of the error %s, the note says %s", (output, note) => {
  expect(notes(`some text\n${output}\nmore text\n`).join("\n")).toMatch(note);
});

test.each([
  "cat: /work/project/a.txt: No such file or directory",
  "ls: cannot access '/usr/lib/missing': No such file or directory",
  "bash: /dev/null: Permission denied",
  "Error: expected 3, found 4 at /home/me/notes.txt",
  "",
])("S40: %j has no note, because the sandbox is not the reason", (output) => {
  expect(notes(output)).toEqual([]);
});

test("S40: any output gives at most three notes, each about one limit", () => {
  const line = fc.constantFrom("/usr/a: EROFS", "/usr/b: EROFS", "/usr/c: EROFS", "/usr/d: EROFS", "docker daemon");
  fc.assert(
    fc.property(fc.array(fc.oneof(line, fc.string())), (lines) => {
      const found = notes(lines.join("\n"));
      expect(found.length).toBeLessThanOrEqual(3);
      for (const note of found) expect(note).toMatch(/^Probably the sandbox: [^\n]+\.$/);
    }),
  );
});

describe.skipIf(reason !== undefined)("a failed command", () => {
  test("S40: names the limits that it met, and a command that succeeds names none", async () => {
    using folder = new TestFolder();
    await using sandbox = await sandboxOf(folder);
    const tool = shellTool(openWorkspace(folder.root), { sandbox });
    const said: string[] = [];
    const ask = async ({ text }: { readonly text: string }) => {
      said.push(text);
      return "No";
    };
    const run = (command: string) => call(tool, { command }, { ask });
    const outside = join(folder.outside, "a");
    expect(await run(`touch ${outside}`)).toContain(`[Probably the sandbox: ${outside} is read-only there.]`);
    expect(await run(`touch ${outside}; true`)).not.toContain("Probably");
    expect(await run("curl -sS --noproxy '*' http://example.org")).toMatch(
      /\[Probably the sandbox: it has no direct network[^\n]*\]\nexit code 6$/,
    );
    expect(await run("exit 3")).toBe("exit code 3");
    // Output alone leads to no question.
    expect(said).toEqual([]);
  });
});
