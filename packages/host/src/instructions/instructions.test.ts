import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { projectOf } from "../places/project.ts";
import { redactor } from "../redaction/redactor.ts";
import { SettingsError } from "../settings/index.ts";
import { untrustedContent } from "../trust/project-content.ts";
import { gatherInstructions, type InstructionSources, instructionsText } from "./instructions.ts";

let home: string;
let config: string;
let root: string;
let workspace: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-instructions-")));
  config = join(home, "config");
  root = join(home, "project");
  workspace = join(root, "packages", "a");
  mkdirSync(join(root, ".git"), { recursive: true });
  mkdirSync(workspace, { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true }));

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function gather(more: Partial<InstructionSources> = {}) {
  const redact = redactor({ env: { MY_KEY: "zw8/qr+9=Lm4x" } });
  return gatherInstructions({ name: "banyan", workspace, config, redact, ...more });
}

const project = () => projectOf(workspace);

describe("B48: instructions", () => {
  test("are the built-in text alone where there is nothing else", () => {
    const { parts, notices } = gather({ project: project() });
    expect(parts.map(({ source }) => source)).toEqual(["built-in"]);
    expect(instructionsText(parts)).toMatch(/^You are banyan, an agent/);
    expect(instructionsText(parts)).toContain(workspace);
    expect(notices).toEqual([]);
  });

  test("come from the user, the project from its root down, the settings and the command line, in this order", () => {
    put(join(config, "AGENTS.md"), "I am the user.\n");
    put(join(root, "AGENTS.md"), "I am the root.");
    put(join(workspace, "AGENTS.md"), "I am the package.");
    put(join(root, "packages", "b", "AGENTS.md"), "I am beside.");
    put(join(home, "AGENTS.md"), "I am above.");
    put(join(root, "docs", "style.md"), "I am named.");
    const { parts, notices } = gather({
      project: project(),
      files: [join(root, "docs", "style.md")],
      flag: "I am the flag.",
    });
    expect(parts.slice(1).map(({ text }) => text.trim())).toEqual([
      "I am the user.",
      "I am the root.",
      "I am the package.",
      "I am named.",
      "I am the flag.",
    ]);
    expect(instructionsText(parts)).toContain(
      `# Instructions from ${join(workspace, "AGENTS.md")}\n\nI am the package.\n\n# Instructions from`,
    );
    expect(instructionsText(parts)).toMatch(/\n\n# Instructions for this conversation\n\nI am the flag\.$/);
    expect(notices).toEqual([]);
  });

  test("C19, K25: in a submodule begin with the instructions of the trusted outer repository, shown before", () => {
    const git = (cwd: string, ...args: string[]) =>
      execFileSync(
        "git",
        ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "protocol.file.allow=always", ...args],
        { cwd, stdio: "ignore" },
      );
    const [outer, inner] = [join(home, "outer"), join(home, "inner")];
    for (const folder of [outer, inner]) {
      put(join(folder, "AGENTS.md"), `I am ${folder === outer ? "outer" : "inner"}.`);
      git(folder, "init", "-q");
      git(folder, "add", ".");
      git(folder, "commit", "-qm", "first");
    }
    git(outer, "submodule", "add", "-q", inner, "libs/inner");
    put(join(outer, "libs", "AGENTS.md"), "I am between.");
    put(join(home, "AGENTS.md"), "I am above.");
    const directory = join(outer, "libs", "inner");
    const { parts } = gather({ project: projectOf(directory), workspace: directory });
    expect(parts.slice(1).map(({ text }) => text)).toEqual(["I am outer.", "I am between.", "I am inner."]);
    expect(projectOf(directory).root).toBe(directory);
    expect(untrustedContent(directory).map(({ name }) => name)).toEqual([
      "../../AGENTS.md",
      "../AGENTS.md",
      "AGENTS.md",
    ]);
    // A worktree does not belong to the repository around it.
    git(inner, "worktree", "add", "-q", join(outer, "tree"));
    const tree = join(outer, "tree");
    expect(gather({ project: projectOf(tree), workspace: tree }).parts).toHaveLength(2);
  });

  test("C19, K24: are read in UTF-16 and with a byte order mark; other bytes are named", () => {
    for (const bytes of [
      Buffer.from("\ufeffBe kind: größer."),
      Buffer.from("\ufeffBe kind: größer.", "utf16le"),
      Buffer.from("\ufeffBe kind: größer.", "utf16le").swap16(),
    ]) {
      writeFileSync(join(root, "AGENTS.md"), bytes);
      const { parts, notices } = gather({ project: project(), flag: `@${join(root, "AGENTS.md")}` });
      expect(parts.slice(1).map(({ text }) => text)).toEqual(["Be kind: größer.", "Be kind: größer."]);
      expect(notices).toEqual([]);
    }
    const file = join(root, "AGENTS.md");
    writeFileSync(file, Buffer.from("größer", "latin1"));
    expect(gather({ project: project() }).notices).toEqual([
      `${file}: the file is not valid UTF-8; invalid bytes are read as \ufffd.`,
    ]);
    writeFileSync(file, Buffer.from([1, 2, 3, 0, 4]));
    expect(gather({ project: project() }).notices).toEqual([`${file}: not read, because the file is not text.`]);
    writeFileSync(file, Buffer.from(`\ufeff${"größer\n".repeat(10_000)}`, "utf16le"));
    const { parts, notices } = gather({ project: project() });
    expect(parts[1]?.text).toMatch(
      /^(größer\n){100,}\[\d+ bytes of AGENTS\.md are left out, because the file is too large\]$/,
    );
    expect(notices).toHaveLength(1);
  });

  test("S5: of a project without trust are not read", () => {
    put(join(config, "AGENTS.md"), "I am the user.");
    put(join(root, "AGENTS.md"), "I am the root.");
    expect(gather().parts.map(({ source }) => source)).toEqual(["built-in", join(config, "AGENTS.md")]);
  });

  test("S5, S21: of a project do not come from a link's target outside the project", () => {
    put(join(home, "secret"), "I am a secret.");
    symlinkSync(join(home, "secret"), join(root, "AGENTS.md"));
    put(join(workspace, "CLAUDE.md"), "I am inside.");
    symlinkSync(join(workspace, "CLAUDE.md"), join(workspace, "AGENTS.md"));
    const { parts, notices } = gather({ project: project() });
    expect(parts.map(({ text }) => text).slice(1)).toEqual(["I am inside."]);
    const secret = realpathSync(join(home, "secret"));
    expect(notices).toEqual([`${join(root, "AGENTS.md")}: not read: the path leads out of the project, to ${secret}.`]);
  });

  test("S10: hold no secrets", () => {
    put(join(config, "AGENTS.md"), "The key is zw8/qr+9=Lm4x.");
    const { parts } = gather({ flag: "zw8/qr+9=Lm4x" });
    expect(parts.slice(1).map(({ text }) => text)).toEqual(["The key is [redacted:MY_KEY].", "[redacted:MY_KEY]"]);
  });

  test("may be in a file that the command line names", () => {
    put(join(workspace, "task.md"), "From a file.");
    expect(gather({ flag: "@task.md" }).parts.at(-1)).toEqual({ source: "--instructions", text: "From a file." });
    for (const [flag, problem] of [
      ["@none.md", "none.md: there is no such file; name a file with text, or write the text itself."],
      ["@.", "a: it is not a file"],
    ] as const) {
      expect(() => gather({ flag })).toThrow(SettingsError);
      expect(() => gather({ flag })).toThrow(problem);
    }
    put(join(workspace, "large.md"), "x".repeat(70_000));
    expect(() => gather({ flag: "@large.md" })).toThrow("it has 70000 bytes, more than 65536");
  });

  test("are bounded: a large file's first lines are read, and a notice to user and agent says so", () => {
    put(join(config, "AGENTS.md"), `${"a line of forty characters, or about so\n".repeat(2_000)}`);
    const { parts, notices } = gather();
    const [, part] = parts;
    expect(part?.text.length).toBeLessThan(65_700);
    expect(part?.text).toMatch(/so\n\[\d+ bytes of AGENTS\.md are left out, because the file is too large\]$/);
    expect(notices).toEqual([
      expect.stringMatching(/AGENTS\.md: \d+ bytes of AGENTS\.md are left out, because the file is too large\.$/),
    ]);
  });

  test("are bounded all together", () => {
    const files = Array.from({ length: 8 }, (_, index) => join(home, `${index}.md`));
    for (const file of files) put(file, "x\n".repeat(30_000));
    const { parts } = gather({ files });
    expect(instructionsText(parts).length).toBeLessThan(270_000);
    expect(parts.length).toBeGreaterThan(4);
  });

  test("that cannot be read cause a notice, and a pipe causes no wait", () => {
    execFileSync("mkfifo", [join(workspace, "AGENTS.md")]);
    const none = join(home, "none.md");
    const { parts, notices } = gather({ project: project(), files: [none, home] });
    expect(parts).toHaveLength(1);
    expect(notices).toEqual([
      `${join(workspace, "AGENTS.md")}: it is not a file.`,
      `${none}: there is no such file.`,
      `${home}: it is not a file.`,
    ]);
  });

  test("name each file once", () => {
    put(join(root, "AGENTS.md"), "I am the root.");
    expect(gather({ project: project(), files: [join(root, "AGENTS.md")] }).parts).toHaveLength(2);
  });
});
