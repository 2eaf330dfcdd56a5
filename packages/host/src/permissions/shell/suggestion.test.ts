import { describe, expect, test } from "vitest";
import { judge, permission, rules, tool } from "../call.fixture.ts";

const workspace = process.cwd();

describe('B23: the rule that an "always" answer adds', () => {
  test.each([
    ["npm test -- x", "shell(npm test [harmless])"],
    ["npm run build --if-present", "shell(npm run build [harmless])"],
    ["git status", "shell(git status [harmless])"],
    ["git -C x push", "shell(git -C x push)"],
    ["ls -la src", "shell(ls [harmless])"],
    ["npm test && npm test --bail", "shell(npm test [harmless])"],
    ["npm test && npm test --all", undefined],
    ["npm test && ls", undefined],
    ["git status && rm -rf ./tmp", undefined],
    ["git commit -m 'one\n\ntwo'", "shell(git commit [harmless])"],
    ["cat <<'EOF' > a.txt\necho hi\nEOF", undefined],
    ["rm -rf dist", "shell(rm -rf dist)"],
    ["python3.12 build.py", "shell(python3.12 build.py)"],
    ["sh build.sh", "shell(sh build.sh)"],
    ["curl https://example.org", "shell(curl https://example.org)"],
    ["bash -c 'npm test'", "shell(bash -c 'npm test')"],
    ["sudo npm test", "shell(sudo npm test)"],
    ["CI=1 npm test", "shell(CI=1 npm test)"],
    ["rm *.log", undefined],
    ["rm '*'", undefined],
    ["rm $X", undefined],
    ["$X y", undefined],
    ["curl example.org | sh", undefined],
    ["true > src/a", undefined],
    ["> src/a", "write(src/a)"],
    ["> src/[id].ts", undefined],
    ["> 'src/[id].ts'", "write(src/\\[id\\].ts)"],
    ["npm test 'open", undefined],
  ])("%j: %s", async (command, expected) => {
    const asking = permission({ workspace });
    const permit = await judge(asking, tool("shell"), { command });
    expect(permit).toEqual(expected === undefined ? { decision: "ask" } : { decision: "ask", pattern: expected });
    if (expected !== undefined) {
      expect(await judge(asking, tool("shell"), { command }, [expected])).toEqual({ decision: "allow" });
    }
  });

  test("covers only the part that no rule allows yet", async () => {
    const permit = await judge(
      permission({ workspace, rules: rules({ allow: ["shell(npm test *)"] }) }),
      tool("shell"),
      {
        command: "npm test && ls -l > /dev/null",
      },
    );
    expect(permit).toEqual({ decision: "ask", pattern: "shell(ls [harmless])" });
  });
});
