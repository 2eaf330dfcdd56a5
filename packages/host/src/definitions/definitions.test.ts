import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Agent, launchAgent, Session } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { describeFault } from "../settings/fault.ts";
import { readAgentFiles } from "./agents.ts";
import { commandPromptText, readCommands } from "./commands.ts";
import { readSkills, skillTool } from "./skills.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "banyan-definitions-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, ...lines: readonly string[]): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.join("\n"));
  return file;
}

describe("named agents", () => {
  test("B41: an agent is a Markdown file, and its text becomes the instructions", () => {
    write(
      "agents/reviewer.md",
      "---",
      "description: Reads a change as a stranger would.",
      "model: openai/gpt-5",
      "tools: read, search",
      "---",
      "",
      "You review.",
      "Be kind.",
    );
    write(
      "agents/digger.md",
      "---",
      "name: dig",
      "description: Digs.",
      "tools: [read, shell]",
      "model: inherit",
      "color: red",
      "---",
      "Dig.",
    );
    expect(readAgentFiles([{ path: join(root, "agents") }])).toEqual({
      found: [
        { name: "dig", description: "Digs.", instructions: "Dig.", tools: ["read", "shell"] },
        {
          name: "reviewer",
          description: "Reads a change as a stranger would.",
          model: "openai/gpt-5",
          tools: ["read", "search"],
          instructions: "You review.\nBe kind.",
        },
      ],
      faults: [],
      written: [
        expect.objectContaining({ name: "dig", model: "inherit", otherKeys: ["color"] }),
        expect.objectContaining({ name: "reviewer", model: "openai/gpt-5", otherKeys: [] }),
      ],
    });
  });

  test("an agent of the project replaces the user's agent of the same name", () => {
    write("user/a.md", "---", "description: the user's", "---", "User.");
    write("project/a.md", "---", "description: the project's", "---", "Project.");
    const { found } = readAgentFiles([
      { path: join(root, "user") },
      { path: join(root, "project") },
      { path: join(root, "nowhere") },
    ]);
    expect(found.map(({ description }) => description)).toEqual(["the project's"]);
  });

  test.each<[string, readonly string[], string]>([
    [
      "without a description",
      ["---", "model: x", "---", "Text."],
      ":1:1: description: found nothing; expected a description of what the agent is good for.",
    ],
    [
      "with a list in the place of a name",
      ["---", "description: d", "name:", "  - a", "---", "Text."],
      ':4:3: name: found ["a"]; expected a name.',
    ],
    [
      "with an end that is missing",
      ["---", "description: d", "Text."],
      ":1:1: the lines before the text do not end; end them with a line of three dashes.",
    ],
    [
      "without a text",
      ["---", "description: d", "---", ""],
      ": it has no instructions; write them below the second line of dashes.",
    ],
  ])("a notice names the line of an agent %s, and the other agents work", (_, lines, problem) => {
    const bad = write("agents/bad.md", ...lines);
    write("agents/good.md", "---", "description: good", "---", "Text.");
    const { found, faults } = readAgentFiles([{ path: join(root, "agents") }]);
    expect(found.map(({ name }) => name)).toEqual(["good"]);
    expect(faults.map(describeFault)).toEqual([bad + problem]);
  });

  test.each([
    ["that stands for too much", ["a: &a [x, x]", ...Array(20).fill("- *a")], "this is not YAML"],
    ["that stands for itself", ["description: &a [*a]"], "found too many levels"],
    ["deeper than any stack", [`description: ${"[".repeat(9000)}`], "this is not YAML"],
  ])("YAML %s is a fault of its file alone", (_, head, problem) => {
    write("agents/bad.md", "---", ...head, "---", "Text.");
    write("agents/good.md", "---", "description: good", "---", "Text.");
    const { found, faults } = readAgentFiles([{ path: join(root, "agents") }]);
    expect(found.map(({ name }) => name)).toEqual(["good"]);
    expect(faults.map((fault) => fault.problem)).toEqual([expect.stringContaining(problem)]);
  });

  test("broken YAML, another encoding and a file of any size are no more than faults", () => {
    write("agents/yaml.md", "---", "description: d", "tools: [a", "---", "Text.");
    write("agents/bytes.md");
    writeFileSync(join(root, "agents/bytes.md"), Buffer.from([0xff, 0xfe, 0x00]));
    write("agents/large.md", "x".repeat(300_000));
    const { found, faults } = readAgentFiles([{ path: join(root, "agents") }]);
    expect(found).toEqual([]);
    expect(faults.map(({ problem }) => problem)).toEqual([
      "it is neither UTF-8 nor UTF-16",
      "it has 300000 bytes",
      expect.stringMatching(/^this is not YAML/),
    ]);
    expect(faults[2]?.line).toBe(4);
  });

  test("S21: a project's agent behind a link out of the project is not read; the user's own agents may be anywhere", () => {
    const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), "banyan-elsewhere-")));
    writeFileSync(join(elsewhere, "secret"), "---\ndescription: Digs.\n---\nA secret.");
    mkdirSync(join(root, "agents"), { recursive: true });
    symlinkSync(join(elsewhere, "secret"), join(root, "agents/spy.md"));
    const path = join(root, "agents");
    expect(readAgentFiles([{ path }]).found).toHaveLength(1);
    const { found, faults } = readAgentFiles([{ path, within: realpathSync(root) }]);
    expect(found).toEqual([]);
    const problem = `not read: the path leads out of the project, to ${join(elsewhere, "secret")}`;
    expect(faults).toMatchObject([{ source: join(path, "spy.md"), problem }]);
    rmSync(elsewhere, { recursive: true });
  });

  test.skipIf(process.getuid?.() === 0)("one that cannot be read is a fault", () => {
    chmodSync(write("agents/a.md", "text"), 0);
    expect(readAgentFiles([{ path: join(root, "agents") }]).faults).toHaveLength(1);
  });

  test("B41: an agent can launch the agent by its name", async () => {
    write("agents/digger.md", "---", "description: Digs.", "---", "You dig.");
    const { found } = readAgentFiles([{ path: join(root, "agents") }]);
    const model = scriptedModel((request) => {
      if (request.instructions.startsWith("You dig.")) return [call("finish_task", { result: "dug" })];
      const [task, ...rest] = request.messages;
      return task && rest.length === 0
        ? [call("launch_agent", { task: "Dig.", expected_output: "a hole", agent: "digger" })]
        : "done";
    });
    const turn = await new Agent({ model, tools: [launchAgent({ agents: found })] }).send("Go", {
      session: Session.inMemory(),
    });
    expect(turn.text).toBe("done");
  });
});

describe("commands", () => {
  test("a command is a Markdown file, and the typed arguments replace its placeholders", () => {
    write(
      "commands/fix.md",
      "---",
      "description: Fixes an issue",
      "argument-hint: [number]",
      "---",
      "Fix issue $1 of $2, that is $ARGUMENTS.",
    );
    write("commands/plain.md", "Look around.", "Then tell.");
    const { found, faults } = readCommands([{ path: join(root, "commands") }]);
    expect(faults).toEqual([]);
    const [fix, plain] = found;
    expect(fix).toMatchObject({ name: "fix", description: "Fixes an issue", hint: "number" });
    expect(plain).toMatchObject({ name: "plain", description: "Look around." });
    expect(fix && commandPromptText(fix, '12 "the tree"')).toBe('Fix issue 12 of the tree, that is 12 "the tree".');
    expect(plain && commandPromptText(plain, "")).toBe("Look around.\nThen tell.");
    expect(plain && commandPromptText(plain, "quietly")).toBe("Look around.\nThen tell.\n\nquietly");
  });

  test("a name that a user cannot type is a fault", () => {
    write("commands/a b.md", "x");
    expect(readCommands([{ path: join(root, "commands") }]).faults.map(({ problem }) => problem)).toEqual([
      "'a b' cannot name a command",
    ]);
  });
});

describe("C19: loading", () => {
  const commands = () => readCommands([{ path: join(root, "commands") }]);

  test("K26: a command in a folder has the folder in its name", () => {
    write("commands/git/commit.md", "Commit $1.");
    write("commands/git/branch/clean up.md", "x");
    write("commands/git/notes.txt", "x");
    const { found, faults } = commands();
    expect(found.map(({ name }) => name)).toEqual(["git:commit"]);
    expect(faults.map(({ problem }) => problem)).toEqual(["'git:branch:clean up' cannot name a command"]);
  });

  test("K15: front matter that is almost YAML is read line by line, with a notice", () => {
    const skill = write(
      "skills/simple/SKILL.md",
      "---",
      "name: simple",
      "description: Simple helper. Trigger words: a, b",
      "  and more of it",
      "---",
      "Text.",
    );
    const { found, faults } = readSkills([{ path: join(root, "skills") }]);
    expect(found).toMatchObject([{ name: "simple", description: "Simple helper. Trigger words: a, b and more of it" }]);
    expect(faults.map(describeFault)).toEqual([
      expect.stringMatching(
        `^${skill}:3:\\d+: this is not YAML \\(.*\\); it was read line by line; correct it; put a text that begins with a sign`,
      ),
    ]);
    write(
      "commands/list.md",
      "---",
      'argument-hint: [action] — e.g. "list"',
      "description: 'it''s' here",
      "---",
      "Go.",
    );
    expect(commands().found).toMatchObject([{ hint: '[action] — e.g. "list"', description: "'it''s' here" }]);
    write("agents/dig.md", "---", "description: @team: digs", "tools:", "  - read", "  - 'search'", "---", "Dig.");
    write("agents/look.md", "---", 'tools: [read, "list"]', "description: Looks: around", "---", "Look.");
    write("agents/star.md", "---", "description: *reviews* what is there", "---", "Review.");
    expect(readAgentFiles([{ path: join(root, "agents") }]).found).toMatchObject([
      { name: "dig", description: "@team: digs", tools: ["read", "search"] },
      { name: "look", description: "Looks: around", tools: ["read", "list"] },
      { name: "star", description: "*reviews* what is there" },
    ]);
  });

  test("a file without YAML or a required field is left out, and the notice names the line of the YAML", () => {
    const path = write("skills/lacking/SKILL.md", "---", "name: a: b", "---", "Text.");
    const { found, faults } = readSkills([{ path: join(root, "skills") }]);
    expect(found).toEqual([]);
    expect(faults.map(describeFault)).toEqual([expect.stringMatching(`^${path}:2:\\d+: this is not YAML`)]);
  });

  test("random descriptions: each is there as it was written, as YAML or line by line", () => {
    const text = fc
      .string({
        unit: fc.constantFrom(
          "a",
          "B",
          " ",
          ":",
          ": ",
          "[",
          "]",
          "{",
          "}",
          "@",
          "*",
          "&",
          "—",
          "!",
          "%",
          "`",
          "|",
          ">",
          ",",
          "é",
        ),
      })
      .map((each) => each.trim().replaceAll(/\s+/g, " "))
      .filter((each) => /^[^|>[{&*!%]/.test(each) && !/^['"#-]/.test(each));
    fc.assert(
      fc.property(text, (description) => {
        const file = write("skills/any/SKILL.md", "---", `description: ${description}`, "name: any", "---", "Text.");
        const { found } = readSkills([{ path: join(root, "skills") }]);
        expect(found, readFileSync(file, "utf8")).toMatchObject([{ name: "any", description }]);
      }),
      { numRuns: process.env.BANYAN_LONG === "1" ? 5_000 : 200 },
    );
  });

  test.each([
    ["UTF-8 with a mark", (text: string) => Buffer.from(`\ufeff${text}`)],
    ["UTF-16 with a mark", (text: string) => Buffer.from(`\ufeff${text}`, "utf16le")],
    ["UTF-16 without a mark", (text: string) => Buffer.from(text, "utf16le")],
    ["UTF-16 of the other order", (text: string) => Buffer.from(`\ufeff${text}`, "utf16le").swap16()],
  ])("%s is read", (_, bytes) => {
    writeFileSync(write("commands/odd.md"), bytes("---\ndescription: Größe\n---\nSay Größe."));
    expect(commands()).toMatchObject({
      found: [{ name: "odd", description: "Größe", text: "Say Größe." }],
      faults: [],
    });
  });

  test("another encoding is named", () => {
    writeFileSync(write("commands/latin.md"), Buffer.from("Größe", "latin1"));
    expect(commands().faults.map(({ problem, advice }) => `${problem}; ${advice}`)).toEqual([
      "it is neither UTF-8 nor UTF-16; save it as UTF-8",
    ]);
  });
});

describe("skills", () => {
  test("the model sees a skill's description, and reads the skill by a call", async () => {
    write(
      "skills/release/SKILL.md",
      "---",
      "name: release",
      "description: How we release.",
      "license: MIT",
      "---",
      "1. Tag.",
    );
    write("skills/notes.txt", "not a skill");
    const { found, faults } = readSkills([{ path: join(root, "skills") }]);
    expect(faults).toEqual([]);
    const tool = skillTool(found);
    expect(tool.description).toContain("- release: How we release.");
    const model = scriptedModel([[call("skill", { name: "release" }), call("skill", { name: "relase" })], "ok"]);
    const turn = await new Agent({ model, tools: [tool] }).send("Release it.");
    expect(turn.reason).toBe("answered");
    const results = model.requests[1]?.messages.flatMap((m) => (m.role === "assistant" ? m.results : [])) ?? [];
    expect(results.map(({ output }) => output)).toEqual([
      `1. Tag.\n\n(The files of this skill are in ${join(root, "skills/release")}.)`,
      "The tool failed: there is no skill 'relase'. Did you mean release?",
    ]);
  });

  test("a skill without a name has the name of its folder", () => {
    write("a b/skills/release/SKILL.md", "---", "description: How we release.", "---", "1. Tag.");
    const { found, faults } = readSkills([{ path: join(root, "a b/skills") }]);
    expect(faults).toEqual([]);
    expect(found).toMatchObject([{ name: "release", description: "How we release." }]);
  });

  test("a skill with a description that is too long is a fault with its line", () => {
    const path = write("skills/long/SKILL.md", "---", `description: ${"x".repeat(1025)}`, "---", "Text.");
    expect(readSkills([{ path: join(root, "skills") }]).faults.map(describeFault)).toEqual([
      `${path}:2:14: description: found "${"x".repeat(79)}; expected at most 1,024 characters.`,
    ]);
  });

  test("a folder without its file is named, and hides no other", () => {
    write("skills/there/SKILL.md", "---", "description: d", "---", "Text.");
    write("skills/gone/skill.txt", "Text.");
    const { found, faults } = readSkills([{ path: join(root, "skills") }]);
    expect(found.map(({ name }) => name)).toEqual(["there"]);
    expect(faults.map(describeFault)).toEqual([
      `${join(root, "skills/gone/SKILL.md")}: there is no such file; create it, or remove its folder.`,
    ]);
  });
});
