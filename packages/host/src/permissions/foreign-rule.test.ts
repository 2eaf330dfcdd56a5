import { expect, test } from "vitest";
import { exampleCall } from "./example-call.ts";
import type { Rule } from "./match.ts";
import { absentNames, allowRules, checkedRule, formatRule, restrainRules, rulesFrom } from "./rule.ts";

const texts = (rules: readonly Rule[]) =>
  rules.map(({ tool, pattern }) => formatRule({ tool, ...(pattern && { pattern }) }));

test.each([
  ["Bash(rm *)", ["shell(rm *)"], ["shell(rm *)"]],
  ["Bash(git push:*)", ["shell(git push *)"], ["shell(git push *)"]],
  ["shell(git push:*)", ["shell(git push *)"], ["shell(git push *)"]],
  ["Bash(*)", ["shell"], ["shell"]],
  ["WebFetch(domain:example.com)", ["fetch(domain:example.com)"], ["fetch(domain:example.com)"]],
  ["Task", ["launch_agent"], ["launch_agent"]],
  [
    "Read(./.env)",
    ["read(.env)"],
    ["read", "list"].flatMap((tool) => [".env", ".env/**", "**/.env", "**/.env/**"].map((path) => `${tool}(${path})`)),
  ],
  [
    "Edit(//etc/**)",
    ["edit(/etc/**)", "edit_mode(/etc/**)", "write(/etc/**)"],
    ["edit(/etc/**)", "edit_mode(/etc/**)", "write(/etc/**)"],
  ],
])("S34: %s allows no more, and denies no less, than in its program", (text, allows, restrains) => {
  const rule = checkedRule(text, "deny");
  expect(texts(allowRules([rule]))).toEqual(allows);
  expect(texts(restrainRules([rule]))).toEqual(restrains);
});

test.each([
  ["bash(rm *)", "deny", "names no tool; you may mean 'Bash'."],
  ["shel(rm *)", "deny", "names no tool; you may mean 'shell'."],
  ["Edits(src/**)", "allow", "names no tool; you may mean '"],
  ["quark", "ask", "names no tool; the tools are shell, "],
  [
    "Bash(command:rm *)",
    "deny",
    "names the argument 'command', and its pattern is the argument itself; write Bash(rm *).",
  ],
  ["WebFetch(https://example.com)", "deny", "names no domain; write WebFetch(domain:example.com), or fetch("],
  ["mcp__*", "allow", "allows tools of servers that it does not name; write mcp__SERVER__*."],
  ["mcp__a*b__c", "deny", "has a '*' inside a name, and only its end can be left open, as in mcp__files__*."],
  [`mcp__a__${"b".repeat(300)}`, "deny", "names a tool in more than 256 characters, or with control characters."],
] as const)("S34, K2: %s is refused, with what to write", (text, list, problem) => {
  expect(() => checkedRule(text, list)).toThrow(problem.endsWith(".") ? `The rule '${text}' ${problem}` : problem);
});

test("S34: a rule on a tool of another program is a notice", () => {
  expect(absentNames(rulesFrom({ deny: ["NotebookEdit", "Bash(rm *)"] }))).toEqual([
    "The rule 'NotebookEdit' has no effect: Banyan has no tool like NotebookEdit.",
  ]);
});

test.each([
  ["Bash(rm:*)", "deny", "shell(rm x)"],
  ["shell(git log [harmless])", "allow", "shell(git log)"],
  ["Read(**/{a,b}.txt)", "deny", "read(a.txt)"],
  ["WebFetch(domain:*.example.com)", "ask", "fetch(https://x.example.com)"],
  ["mcp__g__read_*", "deny", "mcp__g__read_x"],
  ["mcp_g_*(src/**)", "allow", "mcp_g_x(src/x)"],
  ["*", "deny", "shell"],
  ["web_search(weather*)", "deny", "web_search(weatherx)"],
] as const)("S34: %s is proved by a call", (text, list, example) => {
  expect(exampleCall(checkedRule(text, list), list, "/work")).toBe(example);
});

test("S34: a pattern that matches no path has no example call", () => {
  expect(exampleCall(checkedRule("read(a/../../b/[z)", "deny"), "deny", "/work")).toBeUndefined();
});
