import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { judge, permission, rules, tool } from "../call.fixture.ts";
import { parseRule, RuleError } from "../rule.ts";
import { TABLES } from "./harmless-table.ts";

const workspace = mkdtempSync(join(tmpdir(), "banyan-harmless-"));
afterAll(() => rmSync(workspace, { recursive: true }));

async function decide(command: string, allow: string[]): Promise<string> {
  const permit = await judge(permission({ workspace, rules: rules({ allow }) }), tool("shell"), { command });
  return permit.decision;
}

async function offered(command: string): Promise<string | undefined> {
  const permit = await judge(permission({ workspace }), tool("shell"), { command });
  return permit.decision === "ask" ? permit.pattern : undefined;
}

describe("S24: always is offered for harmless options, else for the exact command", () => {
  test.each([
    ["rg -n foo src", "shell(rg [harmless])"],
    ["rg --pre ./evil foo", "shell(rg --pre ./evil foo)"],
    ["rg --pre=./evil foo", "shell(rg --pre=./evil foo)"],
    ["rg -z foo", "shell(rg -z foo)"],
    ["sort -rn a", "shell(sort [harmless])"],
    ["sort a -o b", "shell(sort a -o b)"],
    ["sort -ob a", "shell(sort -ob a)"],
    ["sort --compress-prog=./evil a", "shell(sort --compress-prog=./evil a)"],
    ["uniq a", "shell(uniq [harmless])"],
    ["uniq a b", "shell(uniq a b)"],
    ["git log --oneline -5", "shell(git log [harmless])"],
    ["git log --output=x", "shell(git log --output=x)"],
    ["git log --outp=x", "shell(git log --outp=x)"],
    ["git diff --ext-diff", "shell(git diff --ext-diff)"],
    ["git -c core.pager=./evil log", "shell(git -c core.pager=./evil log)"],
    ["git branch", "shell(git branch [harmless])"],
    ["git branch -D main", "shell(git branch -D main)"],
    ["git push", "shell(git push)"],
    ["find . -name x -type f", "shell(find [harmless])"],
    ["find . -fls x", "shell(find . -fls x)"],
    ["sed -n 1,80p a", "shell(sed [harmless])"],
    ["sed -n 1,80p -i a", "shell(sed -n 1,80p -i a)"],
    ["sed -n '1e ./evil' a", "shell(sed -n '1e ./evil' a)"],
    ["sed 's/a/b/g' x", "shell(sed [harmless])"],
    ["sed -E 's/a\\/b/c/;1,3p' x", "shell(sed [harmless])"],
    ["sed 's/a/b/e' x", "shell(sed s/a/b/e x)"],
    ["sed 's/a/b/w y' x", "shell(sed 's/a/b/w y' x)"],
    ["sed 's/[/w]/b/' x", "shell(sed s/[/w]/b/ x)"],
    ["sed 's/a/b/;e' x", "shell(sed s/a/b/;e x)"],
    ["sed -i 's/a/b/' x", "shell(sed -i s/a/b/ x)"],
    ["awk '{print $1}' x", "shell(awk [harmless])"],
    ["awk -F: -v n=1 'NR == n {s += $2} END {print s}' x", "shell(awk [harmless])"],
    ["awk '{system($0)}' x", "shell(awk {system($0)} x)"],
    ["awk '{print | $0}' x", "shell(awk '{print | $0}' x)"],
    ["awk '{print > $1}' x", "shell(awk '{print > $1}' x)"],
    ["awk '{$0 | getline}' x", "shell(awk '{$0 | getline}' x)"],
    ["awk 'BEGIN {f = $0; @f()}' x", "shell(awk 'BEGIN {f = $0; @f()}' x)"],
    ["awk -f x", "shell(awk -f x)"],
    ["awk $X", undefined],
    ["date -s tomorrow", "shell(date -s tomorrow)"],
    ["file -C -m x", "shell(file -C -m x)"],
    ["tree -o x", "shell(tree -o x)"],
    ["tree -L 2 src", "shell(tree [harmless])"],
    ["tree -Lo 1 x", "shell(tree -Lo 1 x)"],
    ["git log -U --output=x", "shell(git log -U --output=x)"],
    ["git log -U3", "shell(git log [harmless])"],
    ["find . -mtime -7", "shell(find [harmless])"],
    ["npm test -w packages/a", "shell(npm test [harmless])"],
    ["npm test -w ../elsewhere", "shell(npm test -w ../elsewhere)"],
    ["npm test --workspace=/elsewhere", "shell(npm test --workspace=/elsewhere)"],
    ["pytest @options", "shell(pytest @options)"],
    ["pytest 'a\n/../../elsewhere'", undefined],
    ["npm test -- src/a.test.ts", "shell(npm test [harmless])"],
    ["npm test -- --config ./evil.js", "shell(npm test -- --config ./evil.js)"],
    ["npm test --script-shell=./evil", "shell(npm test --script-shell=./evil)"],
    ["npm test ../../elsewhere", "shell(npm test ../../elsewhere)"],
    ["go test ./... -run X", "shell(go test [harmless])"],
    ["go test -exec ./evil", "shell(go test -exec ./evil)"],
    ["cargo test --config x", "shell(cargo test --config x)"],
    ["python -m pytest -q tests/a.py", "shell(python -m pytest [harmless])"],
    ["python -m pytest -p evil", "shell(python -m pytest -p evil)"],
    ["pytest -c evil.ini", "shell(pytest -c evil.ini)"],
    ["cd src", "shell(cd [harmless])"],
    ["cd /tmp", "shell(cd /tmp)"],
    ["cd", "shell(cd)"],
    ["less a", "shell(less a)"],
    ["man -P ./evil ls", "shell(man -P ./evil ls)"],
    ["env", "shell(env)"],
    ["tar -x --to-command=./evil", "shell(tar -x --to-command=./evil)"],
    ["unheard-of x", "shell(unheard-of x)"],
    ["/tmp/ls x", "shell(/tmp/ls x)"],
  ])("%j: %s", async (command, expected) => {
    expect(await offered(command)).toBe(expected);
    if (expected !== undefined) expect(await decide(command, [expected])).toBe("allow");
  });

  test("a rule for harmless options covers no others, nor words that may turn out to be options", async () => {
    const allow = ["shell(rg [harmless])", "shell(git log [harmless])", "shell(cat [harmless])"];
    for (const command of ["rg --pre x y", "rg $X", "rg *", "rg a $X", "git log --output x", "git log {--output,x}"])
      expect(await decide(command, allow)).toBe("ask");
    for (const command of ["rg a src/*.ts", "git log -p -- a", "cat * $X"])
      expect(await decide(command, allow)).toBe("allow");
    for (const command of ["./rg a", "X=1 rg a", "rg a > b"]) expect(await decide(command, allow)).toBe("ask");
  });

  test("a value that resembles an option is an option if the program takes no value there", async () => {
    let tried = 0;
    for (const [start, { options }] of Object.entries(TABLES)) {
      const command = start.replace("NAME", "build");
      for (const option of options.split(" ").filter((each) => each.endsWith(":"))) {
        const name = option.slice(0, -1);
        if (options.split(" ").includes(name)) continue;
        for (const value of ["--output=x", "--config=./evil", "-o", "--"])
          expect(await decide(`${command} ${name} ${value}`, [`shell(${command} [harmless])`])).toBe("ask");
        tried++;
      }
    }
    expect(tried).toBeGreaterThan(300);
  });

  test("no word, value or wildcard leads a program that runs code out of the folder", async () => {
    const runners = Object.entries(TABLES).filter(([, { operand }]) => operand?.test("src/a") && !operand.test("/a"));
    expect(runners.length).toBeGreaterThan(20);
    for (const [start, { options, value }] of runners) {
      const [valued] = options.split(" ").filter((option) => /^--?\w+:$/.test(option));
      for (const away of [
        "..",
        "../a",
        "src/../../a",
        "/a",
        "~/a",
        ".*",
        "./.*/a",
        ".?",
        "src/.[.]/../a",
        "'a\n/../../b'",
      ]) {
        const words = [away, `-- ${away}`];
        if (valued !== undefined && value !== undefined) words.push(`${valued.slice(0, -1)} ${away}`);
        for (const each of words)
          expect(`${start} ${each}: ${await decide(`${start} ${each}`, [`shell(${start} [harmless])`])}`).toMatch(
            /ask$/,
          );
      }
    }
  });

  test("a user's rule keeps its meaning, and an older answer means the harmless options", async () => {
    expect(await decide("rg --pre x y", ["shell(rg *)"])).toBe("allow");
    const asking = permission({ workspace });
    const answered = async (command: string, answer: string) =>
      (await judge(asking, tool("shell"), { command }, [answer])).decision;
    expect(await answered("rg y", "shell(rg *)")).toBe("allow");
    expect(await answered("rg --pre x y", "shell(rg *)")).toBe("ask");
    expect(await answered("unheard-of", "shell(unheard-of *)")).toBe("allow");
    expect(await answered("unheard-of x", "shell(unheard-of *)")).toBe("ask");
  });

  test("quotes keep the words of an exact command apart", async () => {
    const allow = [(await offered("find . -name 'x -delete'")) ?? "", (await offered("less 'a b'")) ?? ""];
    expect(allow).toEqual(["shell(find [harmless])", "shell(less 'a b')"]);
    expect(await decide("less 'a b'", allow)).toBe("allow");
    expect(await decide("less a b", allow)).toBe("ask");
    expect(await decide(`less "'a" "b'"`, allow)).toBe("ask");
    expect(await decide("find . -name x -delete", allow)).toBe("ask");
  });

  test("a notice reports a rule for a program without known harmless options", () => {
    for (const rule of ["shell(unheard-of [harmless])", "shell([harmless])", "read(git log [harmless])"])
      expect(() => parseRule(rule)).toThrow(RuleError);
    expect(() => parseRule("shell(git frob [harmless])")).toThrow(
      "speaks of the harmless options of 'git frob', and none are known; write the exact command",
    );
    expect(parseRule("shell(npm run build [harmless])").pattern).toBe("npm run build [harmless]");
  });

  test("an option that no table lists is never covered", async () => {
    const names =
      "exec pre output config ext-diff to-command rcfile plugin rootdir upload-pack script-shell toolexec".split(" ");
    for (const [start, { options }] of Object.entries(TABLES)) {
      const known = options.split(" ");
      const command = start.replace("NAME", "build");
      for (const name of names) {
        // For kubectl, `output` means a format.
        if (start === "kubectl get" && name === "output") continue;
        expect(known.some((option) => option.replace(/[:=]$/, "") === `--${name}`)).toBe(false);
        for (const option of [`--${name}`, `--${name}=./evil`, `--${name} ./evil`])
          expect(await decide(`${command} ${option}`, [`shell(${command} [harmless])`])).toBe("ask");
      }
    }
  });
});
