import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { judge, permission, rules, tool } from "../call.fixture.ts";

const workspace = mkdtempSync(join(tmpdir(), "banyan-disguise-"));
afterAll(() => rmSync(workspace, { recursive: true }));

async function decide(command: string, deny: string, mode: "ask" | "all" = "ask"): Promise<string> {
  const judging = permission({ workspace, mode, rules: rules({ deny: [deny], allow: ["shell"] }) });
  return (await judge(judging, tool("shell"), { command })).decision;
}

/** Commands that run the words after them; RUN is the place of these words. */
const RUNNERS = [
  "env RUN|nice RUN|nohup RUN|timeout 5 RUN|xargs RUN|find . -exec RUN {} +|sudo RUN|doas RUN|ssh host RUN|watch RUN|strace RUN|ltrace RUN",
  "setsid RUN|stdbuf -oL RUN|ionice RUN|chrt 1 RUN|taskset 1 RUN|unshare RUN|nsenter RUN|flock a RUN|parallel RUN|busybox RUN|sh -c 'RUN'",
  "bash -lc 'RUN'|python -c \"import os; os.system('RUN')\"|perl -e 'system(\"RUN\")'|ruby -e '`RUN`'|node -e \"exec('RUN')\"",
  "make SHELL='RUN'|npx RUN|npm exec -- RUN|pnpm dlx RUN|git -c alias.x='!RUN' x|git rebase -x 'RUN' main|git bisect run RUN",
  "git submodule foreach RUN|time RUN|command RUN|exec RUN|builtin RUN|eval RUN|script -c 'RUN' x|expect -c 'spawn RUN'",
  "tmux new 'RUN'|screen -dm RUN|systemd-run RUN|docker run x RUN|kubectl exec x -- RUN|gdb -ex '!RUN'|entr RUN",
  "awk 'BEGIN { system(\"RUN\") }'|sed '1e RUN'|vim -c '!RUN'|emacs --eval 'RUN'|echo 'RUN' | at now|echo 'RUN' | crontab -",
  "echo 'RUN' | ed x|python <<'E'\nimport os; os.system('RUN')\nE\n|ssh -o ProxyCommand='RUN' h|tar --to-command='RUN' -xf x",
  "GIT_PAGER='RUN' git log|export EDITOR='RUN'|rg --pre 'RUN' x|sort --compress-program='RUN' x|unheard-of --run='RUN'|unheard-of RUN",
  "{ python; } <<'E'\nRUN\nE\n",
  "{ echo 'RUN' | at now; } | cat",
].flatMap((line) => line.split(/(?<! )\|(?! )/));

describe("S25: a deny rule finds the program behind others", () => {
  test.each(RUNNERS)("%j is not run unasked", async (command) => {
    expect(RUNNERS.length).toBeGreaterThan(60);
    expect(await decide(command.replaceAll("RUN", "rm x"), "shell(rm *)")).not.toBe("allow");
    expect(await decide(command.replaceAll("RUN", "/bin/rm x"), "shell(rm *)", "all")).toBe("deny");
    expect(await decide(command.replaceAll("RUN", "git push"), "shell(git push *)")).not.toBe("allow");
    expect(await decide(command.replaceAll("RUN", "git -C . push"), "shell(git push *)")).not.toBe("allow");
  });

  test.each([
    ["git -C . push", "shell(git push *)"],
    ["git -c x=y push origin", "shell(git push *)"],
    ["git --git-dir x --no-pager push", "shell(git push *)"],
    ["npm --prefix x publish", "shell(npm publish *)"],
    ["npm --silent publish", "shell(npm publish *)"],
    ["kubectl -n x delete pod y", "shell(kubectl delete *)"],
    ["docker --context x push y", "shell(docker push *)"],
    ["cargo +nightly publish", "shell(cargo publish *)"],
  ])("%s denies %j", async (command, deny) => {
    expect(await decide(command, deny)).toBe("deny");
  });

  test.each([
    ["git --unheard-of x push", "shell(git push *)"],
    ["npm --unheard-of x publish", "shell(npm publish *)"],
    ["npm run --silent deploy", "shell(npm run deploy *)"],
    ["/usr/lib/git-core/git-push origin", "shell(git push *)"],
    ["nice /usr/lib/git-core/git-push origin", "shell(git push *)"],
    ["GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=push git x", "shell(git push *)"],
    ["alias x=git\nx push", "shell(git push *)"],
    ["alias ll='ls -l'", "shell(ls -l /etc *)"],
  ])("%s may deny %j", async (command, deny) => {
    expect(await decide(command, deny)).toBe("ask");
  });

  test.each([
    ["grep -rn rm src", "shell(rm *)"],
    ["rg 'git push' docs", "shell(git push *)"],
    ["git log --oneline -- push", "shell(git push *)"],
    ["git commit -m 'git push, and rm'", "shell(rm *)"],
    ["echo 'rm x' | cat", "shell(rm *)"],
    ["git status | grep push", "shell(git push *)"],
    ["npm test -- --bail", "shell(npm publish *)"],
    ["docker run --rm x", "shell(rm *)"],
    ["alias ll='ls -l'", "shell(rm *)"],
    ["cat <<'E' > notes\nrm x\nE\n", "shell(rm *)"],
  ])("%j is something else than %s", async (command, deny) => {
    expect(await decide(command, deny, "all")).toBe("allow");
  });
});
