import { emptyConversation, type PermitRequest } from "@banyan/core";
import { noRules, type PermissionOptions, parseRule, permissions, type Rules } from "@banyan/host";
import { cpuTime, type Measure } from "../measure.ts";

const WARM_UP = 300;
const TIMES = 1000;

/** Typical commands of agents. */
const COMMANDS: readonly string[] = [
  "ls -la",
  "git status",
  "git log --oneline | head",
  "npm test",
  "rg foo src",
  "cat a && cat b",
  "cd x && make",
  "echo hi > f",
  "find . -name '*.ts' | xargs wc -l",
  "cat <<'EOF' > f\nhello\nworld\nEOF",
  'for f in *.ts; do wc -l "$f"; done',
  "cat a.log | grep -v foo | sort | uniq -c | sort -rn | head -n 20",
  "git diff --stat HEAD~1 && git add -A && git commit -m 'fix: the thing'",
  "npx vitest run src/a.test.ts 2>&1 | tail -50",
  "python3 -c 'print(1)'",
  "sed -n '1,80p' src/index.ts",
  "mkdir -p out && cp -r src/* out/",
  "rm -rf node_modules && npm ci",
  "grep -rn 'foo bar' packages/*/src --include=*.ts | head -5",
  "if [ -f a ]; then cat a; fi",
];

const EIGHT: Rules = {
  deny: ["shell(rm -rf *)", "shell(curl *)", "write(.env)"].map(parseRule),
  ask: ["shell(git push *)", "shell(npm publish *)"].map(parseRule),
  allow: ["shell(git status *)", "shell(npm test *)", "shell(make)"].map(parseRule),
};

/** Without ask and deny rules, a command is only parsed. */
const judging: Readonly<Record<string, Pick<PermissionOptions, "mode" | "rules">>> = {
  "read alone": { mode: "all", rules: noRules },
  "no rules": { mode: "ask", rules: noRules },
  "8 rules": { mode: "ask", rules: EIGHT },
};

export const permission: Measure = {
  name: "permission",
  what: "the check of a shell command, without rules and with 8, beside the reading of the command alone (S7)",
  subjects: Object.keys(judging),
  bounds: ["read alone"],
  figures: [{ name: "CPU for a check", unit: "µs" }],
  rounds: 5,
  async run(subject) {
    const how = judging[subject];
    if (how === undefined) throw new Error(`There is no subject "${subject}".`);
    const check = permissions({ ...how, workspace: process.cwd(), tools: () => [], canAsk: true });
    const { signal } = new AbortController();
    const conversation = emptyConversation();
    const requests = COMMANDS.map((command): PermitRequest => {
      const tool = { name: "shell", description: "", input: { type: "object" }, effects: "external" } as const;
      return {
        run: "run",
        call: "call",
        tool: { ...tool, about: () => ({ command }), execute: () => "" },
        input: { command },
        conversation,
        allowed: [],
        signal,
      };
    });
    let decided = 0;
    const judge = async (times: number) => {
      for (let time = 0; time < times; time++)
        for (const request of requests) if ((await check(request)).decision !== undefined) decided++;
    };
    await judge(WARM_UP);
    decided = 0;
    const began = cpuTime();
    await judge(TIMES);
    const cpu = cpuTime() - began;
    if (decided !== TIMES * COMMANDS.length) throw new Error(`${decided} commands were judged.`);
    return { "CPU for a check": (cpu * 1000) / decided };
  },
};
