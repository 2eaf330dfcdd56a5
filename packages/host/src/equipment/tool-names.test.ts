import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Agent, launchAgent, say, shortenConversation, type Tool } from "@banyan/core";
import { updatePlan } from "@banyan/core/hosts";
import { collect, scriptedModel } from "@banyan/core/testing";
import { memoryTools } from "@banyan/memory";
import { type LanguageServers, symbolTools } from "@banyan/tools/language-servers";
import { braveSearch, webTools } from "@banyan/tools/web";
import { openWorkspace, workspaceTools } from "@banyan/tools/workspace";
import { expect, test } from "vitest";
import { ownTools } from "../permissions/tool-names.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));

/** The reason that a name is allowed at a place. */
const REASONS: Readonly<Record<string, string>> = {
  "packages/host/src/permissions/rule.ts: shell":
    "The word of rules for commands: people write it, and it means every tool that runs one.",
  "packages/host/src/permissions/rule.ts: edit": "The word of rules for changes of files.",
  "packages/host/src/permissions/rule.ts: read": "The word of rules for reading.",
  "packages/host/src/permissions/rule.ts: write": "The word of rules for files that commands write.",
  "packages/host/src/permissions/rule.ts: fetch": "The word of rules for what is got from the web.",
  "packages/host/src/permissions/rule.ts: mcp_": "How a rule on all tools of a server is written, which people write.",
  "packages/host/src/permissions/tool-list.ts: mcp_": "The same, in lists of tools of agents.",
  "packages/host/src/hooks/matcher.ts: mcp_": "The same, in matchers of hooks.",
  "packages/host/src/permissions/named-tool.ts: mcp_":
    "The names of a server's tools, which users write in rules and matchers.",
  "packages/host/src/settings/schema.ts: mcp_": "The same, told to who writes settings.",
  "packages/host/src/settings/unknown-names.ts: mcp_": "The same, looked up where users write it.",
  "packages/host/src/hooks/hook-call.ts: file_path": "The field of hooks of other programs: people's hooks read it.",
  "packages/host/src/exchange/programs/codex.ts: mcp_":
    "The records of another program that say nothing of a conversation.",
  "packages/host/src/exchange/programs/codex.ts: web_search": "What another program calls a search of its own.",
  "packages/host/src/exchange/programs/to-events.ts: file_path": "The argument of the tools of other programs.",
  "packages/host/src/definitions/skills.ts: skill": "The tool itself: it gives what the host reads from files.",
};

/** Files that define the names which users write. */
const FILES: Readonly<Record<string, string>> = {
  "packages/host/src/permissions/tool-names.ts": "The table of all names that rules, matchers and lists can have.",
  "packages/host/src/permissions/foreign-rule.ts": "What rules of other programs mean, by the names of our tools.",
  "packages/host/src/permissions/example-call.ts": "An example of a call for each rule that users write.",
};

/** All tools of Banyan: their names, and those of their arguments. */
async function shipped(): Promise<{ readonly tools: readonly string[]; readonly inputs: readonly string[] }> {
  const model = scriptedModel(["done"]);
  const tools: readonly Tool[] = [
    ...workspaceTools({ root }),
    ...webTools({ search: braveSearch({ key: "none" }) }),
    ...symbolTools(openWorkspace(root), { checked: (some) => [...some] } as LanguageServers),
    ...memoryTools({} as Parameters<typeof memoryTools>[0]),
    ...[
      launchAgent({ agents: [{ name: "a", description: "", instructions: "" }] }),
      shortenConversation(),
      updatePlan(),
    ],
  ];
  // The tools that end a task and ask for help come with the mode.
  await collect(new Agent({ model, mode: "task", tools, limits: { steps: 1 } }).chat(say("Go.")));
  const schemas = model.requests[0]?.tools ?? [];
  return {
    tools: [...schemas.map(({ name }) => name), "skill", "mcp_"],
    inputs: schemas.flatMap(({ input }) => Object.keys((input as { properties?: object }).properties ?? {})),
  };
}

/** Names with only one meaning, so that each occurrence is about the tool. */
const isPlain = (name: string) => name.includes("_");

/** The places in a file that name a tool or an argument. */
function named(code: string, tools: readonly string[], inputs: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const seek = (name: string, ...forms: readonly string[]) => {
    if (forms.some((form) => new RegExp(form, "sm").test(code))) found.add(name);
  };
  for (const name of new Set([...tools, ...inputs].filter(isPlain))) seek(name, String.raw`(?<![\w.-])${name}`);
  seek("shell", '"shell"');
  const some = tools.filter((name) => !isPlain(name));
  for (const name of some)
    seek(
      name,
      // A comparison with a tool's name, or a definition.
      String.raw`\b(tool|tool\.name)\b\)?\s*[!=]==\s*"${name}"`,
      String.raw`"${name}"\s*[!=]==\s*[\w.]*\btool\b`,
      String.raw`defineTool\(\{\s*name: "${name}"`,
      `^export const [A-Z]+ = "${name}";$`,
      // Several names in one list.
      String.raw`[\[,]\s*"${name}",\s*"(${some.join("|")})"`,
      String.raw`"(${some.join("|")})",\s*"${name}",?\s*\]`,
    );
  // Reading an argument of a call.
  const ambiguous = inputs.filter((name) => !isPlain(name));
  for (const name of ambiguous)
    seek(
      name,
      String.raw`\b(input|executedInput)\b\)?\s*(as [^;\n]*)?\??\.${name}\b`,
      String.raw`"${name}" in \w*[iI]nput\b`,
    );
  return [...found];
}

function withoutComments(source: string): string {
  return source
    .replaceAll(/\/\*.*?\*\//gs, "")
    .replaceAll(/^\s*\/\/.*$/gm, "")
    .replaceAll(/ \/\/ .*$/gm, "");
}

/** Product files: neither tests nor their fixtures. */
function product(name: string): readonly string[] {
  return globSync(`packages/${name}/src/**/*.{ts,tsx}`, { cwd: root }).filter(
    (path) => !/\.test\.tsx?$|\.fixture\.tsx?$|\/testing\//.test(path),
  );
}

test("H8: host, server and clients name no tool and no argument, except where users name it", async () => {
  const { tools, inputs } = await shipped();
  const places = ["host", "server", "cli", "web"].flatMap(product).flatMap((path) => {
    if (Object.hasOwn(FILES, path)) return [];
    const code = withoutComments(readFileSync(root + path, "utf8"));
    return named(code, tools, inputs).map((name) => `${path}: ${name}`);
  });
  expect(places.toSorted()).toEqual(Object.keys(REASONS).toSorted());
});

test.each([
  ['if (call.tool === "read") fold();', "read"],
  ['return "list" === tool;', "list"],
  ['const LOOKS = new Set(["read", "search"]);', "search"],
  ["const LOOKS = { read: 1, web_search: 2 };", "web_search"],
  ['tool.name.startsWith("mcp_")', "mcp_"],
  ['const path = input.path ?? input["file_path"];', "file_path"],
  ["call.executedInput?.command", "command"],
  ['"agent" in input', "agent"],
])("H8: the check finds %s", async (code, name) => {
  const { tools, inputs } = await shipped();
  expect(named(code, tools, inputs)).toContain(name);
});

test("S34: the table of names has all tools that come with Banyan, and no others", async () => {
  const { tools } = await shipped();
  const there = [...tools.filter((name) => name !== "mcp_"), "find_tools", "call_tool", "bring_over"];
  expect([...ownTools].toSorted()).toEqual([...new Set(there)].toSorted());
});
