import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { judge, permission, rules, tool } from "../call.fixture.ts";
import type { ApprovalMode } from "../rule.ts";

const workspace = mkdtempSync(join(tmpdir(), "banyan-redirect-"));
afterAll(() => rmSync(workspace, { recursive: true }));

async function decide(
  command: string,
  texts: Parameters<typeof rules>[0],
  mode: ApprovalMode = "ask",
): Promise<string> {
  return (await judge(permission({ workspace, mode, rules: rules(texts) }), tool("shell"), { command })).decision;
}

describe("S7: a redirect is judged like a write or a read", () => {
  mkdirSync(join(workspace, "src"));
  symlinkSync("/etc", join(workspace, "link"));

  test.each([
    ["echo a > src/a", [], "ask", "ask"],
    ["echo a > src/a", [], "edits", "allow"],
    ["echo a > src/a", ["write(src/**)"], "ask", "allow"],
    ["echo a >> src/a", ["write(src/**)"], "ask", "allow"],
    ["echo a &> src/a", ["write(lib/**)"], "ask", "ask"],
    ["echo a >| src/../lib/a", ["write(src/**)"], "ask", "ask"],
    ["> src/a", [], "ask", "ask"],
    ["> src/a", [], "edits", "allow"],
    ["{ echo a; } > src/a", [], "ask", "ask"],
    ["echo a > ~/.bashrc", [], "edits", "ask"],
    ["echo a > $HOME/.bashrc", [], "edits", "ask"],
    ["echo a > /etc/passwd", [], "edits", "ask"],
    ["echo a > ../x", [], "edits", "ask"],
    ["echo a > link/x", [], "edits", "ask"],
    ["echo a > $X", [], "edits", "ask"],
    ["echo a > $(echo x)", [], "edits", "ask"],
    ["echo a > *.ts", [], "edits", "ask"],
    ["echo a >& src/a", [], "ask", "ask"],
    ["echo a >&2", [], "ask", "allow"],
    ["echo a > .git/hooks/pre-commit", [], "edits", "ask"],
    ["echo a > .git/hooks/pre-commit", ["write(**)"], "ask", "ask"],
    ["echo a > src/HEAD", [], "edits", "ask"],
    ["echo a > src/HEAD", ["write(src/**)"], "ask", "ask"],
    ["echo a > src/HEAD", ["write(src/HEAD)"], "ask", "allow"],
    ["echo a > .gitignore", ["write(.gitignore)"], "ask", "allow"],
    ["cd .. && echo a > src/a", ["shell(cd *)"], "edits", "ask"],
    ["cd src && npm test", ["shell(cd *)"], "ask", "allow"],
    ["cd .. && echo a > /tmp/x", ["shell(cd *)", "write(/tmp/*)"], "ask", "allow"],
    ["cat < src/a", [], "ask", "allow"],
    ["cat < /etc/passwd", [], "ask", "ask"],
    ["cat < link/passwd", [], "ask", "ask"],
    ["cat < /etc/hosts", ["read(/etc/hosts)"], "ask", "allow"],
    ["cat < /dev/tcp/example.org/80", [], "ask", "ask"],
    ["cat <> src/a", [], "ask", "ask"],
    ["echo a > '~/x'", [], "edits", "allow"],
  ] as const)("%j with %j in mode %s: %s", async (command, allow, mode, expected) => {
    expect(
      await decide(command, { allow: ["shell(echo *)", "shell(cat *)", "shell(npm test *)", ...allow] }, mode),
    ).toBe(expected);
  });

  test.each([
    "echo a > secret/x",
    "> secret/x",
    "echo a > src/../secret/x",
    "echo a >> ./secret/x",
    "bash -c 'echo a > secret/x'",
    "echo $(echo a > secret/x)",
    "cat << E > secret/x\nE\n",
  ])("%j is denied where writing or editing the file is", async (command) => {
    expect(await decide(command, { deny: ["edit(secret/**)"], allow: ["shell"] }, "all")).toBe("deny");
    expect(await decide(command, { deny: ["write(secret/**)"], allow: ["shell"] }, "all")).toBe("deny");
  });

  test("a redirect to an unknown place may lead to a denied place", async () => {
    const texts = { deny: ["write(secret/**)"], allow: ["shell"] };
    expect(await decide("echo a > $X", texts)).toBe("ask");
    expect(await decide("cd x; echo a > y", texts)).toBe("ask");
    expect(await decide("echo a > src/y", texts)).toBe("allow");
  });
});
