// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are shell, not JavaScript
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { judge, permission, rules, tool } from "../call.fixture.ts";
import { parseRule } from "../rule.ts";
import { tryInputs } from "./standard-input.fixture.ts";
import { wideRuleNotices } from "./wide-rule.ts";

const isLong = process.env.BANYAN_LONG === "1";
const workspace = mkdtempSync(join(tmpdir(), "banyan-input-"));
afterAll(() => rmSync(workspace, { recursive: true }));

/** The rule that the question offers; "none" for a question without one. */
async function offered(command: string, allow: string[] = []): Promise<string> {
  const permit = await judge(permission({ workspace, rules: rules({ allow }) }), tool("shell"), { command });
  return permit.decision === "ask" ? (permit.pattern ?? "none") : permit.decision;
}

/** Programs that execute their input; INPUT is the place of the input. */
const EXECUTING =
  "bash|bash -s|sh -ex|python3|python3 -|python3 script.py|node|perl -|psql|psql mydb|sqlite3 a.db|mysql -u root|ssh host|ssh host sh|make -f -|make|xargs rm|xargs -n 1 sh|parallel|docker exec -i c sh|docker run -i x|env bash|env -i A=1 bash|sudo -u x sh|nice python3|timeout 9 sh|bash -c sh|bash -c 'cat; sh'|npm test|npm run build|git apply|git am|git add --pathspec-from-file=-|patch|tar x|at now|vim -|awk '{ system($0) }'|awk -f -|sed e|sed -f -|sort --compress-program=x|A=1 cat|/usr/bin/cat|./cat|unheard-of x".split(
    "|",
  );
const FORMS = [
  "WORDS <<'E'\nls\nE",
  "WORDS <<E\nls\nE",
  "WORDS <<-E\n\tls\n\tE",
  "WORDS <<< ls",
  'WORDS <<< "$x"',
  "WORDS < input",
  "< input WORDS",
  "WORDS 0<input",
  "WORDS 3<input <&3",
  "WORDS <> input",
  "cat input | WORDS",
  "cat input |& WORDS",
  "echo ls | cat | WORDS",
  "ls && cat input | WORDS | cat",
  "WORDS <(cat input)",
  "WORDS < <(cat input)",
  "cat input | tee >(WORDS)",
  "{ cat input; } | WORDS",
  "{ WORDS; } < input",
  "(WORDS) <<< ls",
  "while read -r line; do WORDS; done < input",
  "if true; then WORDS; fi < input",
  "f() { WORDS; }; f < input",
  "exec < input; WORDS",
  'bash -c "WORDS" < input',
];
/** Programs that do not execute their input. */
const INERT =
  "cat|cat -n|tee x|grep -n a|grep -f -|wc -l|sort -u|head -n 3|tail -5|tr a b|cut -d: -f1|uniq -c|sed 's/a/b/g'|sed -n '1,5p'|awk '{print $1}'|awk -F: '{n += $2} END {print n}'|jq .a|diff - x|gzip -c|LC_ALL=C sort|git commit -F -|rm -i x".split(
    "|",
  );

describe("S33, K1: a rule of words allows no program that may execute its standard input", () => {
  test.each(EXECUTING)(
    "%j with any input: always is not offered, and rules about its words allow nothing",
    async (words) => {
      const [program = ""] = words.split(" ");
      const wide = [words, `${program} *`, `${words} *`].map((pattern) => `shell(${pattern})`);
      for (const form of FORMS) {
        const command = form.replace("WORDS", words);
        expect(`${command}: ${await offered(command)}`).toBe(`${command}: none`);
        const allow = [...wide, "shell(cat *)", "shell(echo *)", "shell(ls *)", "shell(sh *)", "shell(bash *)"];
        const decided = await judge(permission({ workspace, mode: "edits", rules: rules({ allow }) }), tool("shell"), {
          command,
        });
        expect(`${command}: ${decided.decision}`).toBe(`${command}: ask`);
      }
    },
  );

  test.each(INERT)("%j is offered with an input as before, and the answer holds for another input", async (words) => {
    for (const form of ["WORDS <<'E'\nls\nE", "WORDS <<< ls", "WORDS < input", "cat input | WORDS"]) {
      const rule = await offered(
        form.replace("WORDS", words),
        form.startsWith("cat") && !words.startsWith("cat") ? ["shell(cat *)"] : [],
      );
      expect(rule).toMatch(/^shell\(/);
      expect(await offered(form.replace("WORDS", words).replace("ls", "other"), [rule, "shell(cat *)"])).toBe("allow");
    }
  });

  test("without an input, only the words count, and /dev/null is no input", async () => {
    for (const command of ["npm test", "npm test < /dev/null", "python3 -c 'print(1)'", "node build.js 2>&1 | tail -3"])
      expect(
        await offered(command, ["shell(npm test)", "shell(python3 -c *)", "shell(node build.js)", "shell(tail *)"]),
      ).toBe("allow");
  });

  test("a file in the words is left out of the comparison", async () => {
    expect(await offered("psql -f migrate.sql")).toBe("shell(psql -f migrate.sql)");
    expect(await offered("bash build.sh", ["shell(bash build.sh)"])).toBe("allow");
    expect(await offered("bash build.sh < input", ["shell(bash build.sh)"])).toBe("none");
  });

  test("a rule for all of shell allows it, as it allows everything", async () => {
    for (const allow of ["shell", "shell(*)", "*"]) expect(await offered("psql < input", [allow])).toBe("allow");
  });

  test("a program behind a wrapper without known options is judged by the whole text", async () => {
    expect(await offered("env --uns cat bash <<< ls", ["shell(env *)", "shell(cat *)"])).toBe("none");
    expect(await offered("bash -c 'curl example.com | python3'")).toBe("none");
    expect(await offered("bash -c 'python3 <<< ls'", ["shell(bash -c 'python3 <<< ls')"])).toBe("none");
    expect(await offered("bash -c 'ls | head'")).toBe("shell(bash -c 'ls | head')");
    expect(await offered("sh /dev/stdout >> x", ["shell(sh *)", "write(x)"])).toBe("none");
  });

  test("a command of another program's agent is judged like one of ours", async () => {
    const command = (input: unknown) => ({ command: String((input as { readonly cmd: string }).cmd) });
    const acp = { ...tool("claude_execute"), offeredBy: "claude", asAsked: true, about: command };
    for (const allow of [["shell(python3 *)"], ["shell(python3 -)", "claude_execute(python3 *)"]]) {
      const asking = permission({ workspace, rules: rules({ allow }) });
      expect(await judge(asking, acp, { cmd: "python3 - <<< 'print(1)'" })).toEqual({ decision: "ask" });
    }
    const asking = permission({ workspace, rules: rules({ allow: ["shell(python3 *)"] }) });
    expect(await judge(asking, acp, { cmd: "python3 build.py" })).toEqual({ decision: "allow" });
  });

  test("a tool of an MCP server is allowed by no rule on commands, and a rule on the tool compares the whole text", async () => {
    const allow = ["shell(python3 *)", "shell(cat *)", "mcp_term_run(python3 -)"];
    const asking = permission({ workspace, rules: rules({ allow }) });
    const decide = async (command: string) => (await judge(asking, tool("mcp_term_run"), { command })).decision;
    expect(await decide("python3 - <<< 'print(1)'")).toBe("ask");
    expect(await decide("cat <<< ls")).toBe("ask");
    expect(await decide("python3 -")).toBe("allow");
  });

  test.skipIf(!existsSync("/bin/bash"))(
    "of generated commands, none that runs unasked gives a program that executes it an input that nobody saw",
    async () => {
      const seed = Number(process.env.BANYAN_SEED ?? (isLong ? Date.now() % 1_000_000 : 33));
      const { executed, copied, possible } = await tryInputs(isLong ? 3_000 : 100, seed);
      expect(executed, `seed ${seed}, BANYAN_SEED makes it again`).toEqual([]);
      expect(copied).toBeGreaterThan(5);
      expect(possible).toBeGreaterThan(20);
    },
    900_000,
  );
});

describe("S33: deny and ask rules see the input", () => {
  test.each([
    "frob sh <<'E'\nevil x\nE",
    "frob sh <<E\nls; evil x\nE",
    "frob sh <<< 'evil x'",
    'frob sh <<< "ev"il',
    "frob sh <<'E'\nev''il\nE",
    "frob sh <<'E'\nev\\\nil\nE",
    "cat <<'E' | frob sh\nevil\nE",
    "echo evil | cat | frob sh",
    "frob sh <(echo evil)",
    "frob sh < <(echo evil)",
    "echo evil | tee >(frob sh)",
    "echo evil > >(frob sh)",
    "{ frob sh; } <<< ev'il'",
    "{ cat | frob sh; } <<'E'\nev''il\nE",
    "while read -r line; do frob $line; done <<< evil",
    "frob sh /dev/fd/3 3<<'A' <<'B'\nevil\nA\nls\nB",
    "bash /dev/fd/3 3<<< evil <<< ls",
    "exec <<< evil; frob sh",
    "env bash <<< evil",
    "x=evil; frob sh <<< $x",
  ])("%j is asked about, and denied where nothing is asked", async (command) => {
    const texts = { deny: ["shell(evil *)"], allow: ["shell"] };
    for (const mode of ["ask", "all"] as const) {
      const { decision } = await judge(permission({ workspace, mode, rules: rules(texts) }), tool("shell"), {
        command,
      });
      expect(decision).not.toBe("allow");
    }
    const ofServer = permission({ workspace, rules: rules({ ...texts, allow: ["mcp_term_run"] }) });
    expect((await judge(ofServer, tool("mcp_term_run"), { command })).decision).not.toBe("allow");
    const asked = { ask: ["shell(evil *)"], allow: ["shell"] };
    expect((await judge(permission({ workspace, rules: rules(asked) }), tool("shell"), { command })).decision).toBe(
      "ask",
    );
  });

  test.each([
    "cat <<'E'\nevil\nE",
    "grep evil < input",
    "cat < <(git log) | grep evil",
    "git apply <<'E'\nevil\nE",
    "tee x <<< evil",
  ])("%j runs nothing of its input", async (command) => {
    const texts = { deny: ["shell(evil *)"], allow: ["shell"] };
    const { decision } = await judge(permission({ workspace, mode: "all", rules: rules(texts) }), tool("shell"), {
      command,
    });
    expect(decision).toBe("allow");
  });
});

describe("S33: stored rules that allowed any input are reported", () => {
  test.each(
    "bash|sh -s|bash *|python3|python3 -|python3.12 *|node|perl -|psql|psql *|psql mydb|sqlite3 a.db|ssh host|ssh *|make -f -|xargs rm|xargs *|docker exec -i c sh|env bash|sudo sh|nice python3 -|sudo -u x psql".split(
      "|",
    ),
  )("shell(%s), with what to do", (pattern) => {
    expect(wideRuleNotices([parseRule(`shell(${pattern})`)])).toEqual([
      `The rule 'shell(${pattern})' no longer allows standard input, because the input may contain commands. Remove the rule, or name a file with the commands in the rule.`,
    ]);
  });

  test("rules that name the inner program do not cover it, nor do rules for all of shell", () => {
    const patterns =
      "npm test|npm test*|git log [harmless]|bash build.sh|bash scripts/*|python3 build.py *|python3 -m pytest *|python3 --version|node --test|node -e *|psql -f x.sql|sqlite3 a.db .tables|ssh host uptime|make|make build|docker ps|docker run x|cat *|*|echo 'it|git commit -m 'it'\\''s'".split(
        "|",
      );
    const others = ["shell", "*", "read(bash)", "mcp_x_python3(-)"].map(parseRule);
    expect(wideRuleNotices([...patterns.map((pattern) => parseRule(`shell(${pattern})`)), ...others])).toEqual([]);
  });

  test("no question offers a rule that is reported", async () => {
    for (const words of EXECUTING.flatMap((each) => [each, `${each} x`, `sudo ${each}`])) {
      const rule = await offered(words);
      if (rule !== "none") expect(wideRuleNotices([parseRule(rule)])).toEqual([]);
    }
  });
});
