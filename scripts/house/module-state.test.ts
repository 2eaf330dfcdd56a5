import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";
import { expect, test } from "vitest";

const core = fileURLToPath(new URL("../../packages/core/src", import.meta.url));

/** Allowed state of core's modules, with the reason why no object can have it as a field. */
const REASONS: Readonly<Record<string, string>> = {
  "ai-sdk/own-storage.ts known": "A memo: the message alone says what it is without what the provider stored.",
  "ai-sdk/prompt.ts encodings":
    "A memo, as the port of models allows: agents are made for one turn, and their drivers with them; the messages stay.",
  "ai-sdk/prompt.ts tools": "A memo: the list of schemas alone says what it is in the words of the AI SDK.",
  "agent/prepare.ts drivers":
    "A memo: one driver for each language model, so that all agents with the model share what was learnt about its window.",
  "context/background-summary.ts summaries":
    "A session knows nothing of summaries: those under way belong to it and end with it.",
  "context/recall.ts writing":
    "A memory is its user's own object. Conversations that know nothing of each other share it, and each waits for what another one still writes.",
  "conversation/option-names.ts required": "A memo: the table of names alone says whether an option is required.",
  "conversation/tree/path.ts placeholders":
    "A memo: the entry alone says what is shown in the place of a message, and drivers know messages by their identity.",
  "conversation/tree/path.ts shortenedForms":
    "A memo: the path alone says which results are shortened, and drivers know by the identity of a message what they have encoded.",
  "context/tokens.ts bytesOf": "A memo: a message of a prompt never changes, so its bytes are counted once.",
  "context/tokens.ts summed": "A memo: the array of a prompt only grows, so a step adds what is new.",
  "conversation/tree/readable-event.ts intact": "A memo: a file alone says whether its bytes can be read.",
  "model/context-window.ts byAddress":
    "The window of a model is a fact about its server: each conversation would pay for a refusal that others know of.",
  "model/context-window.ts byDriver": "The same for a driver without an address.",
  "model/finish-reasons.ts met":
    "What a provider's reason was is no matter of a conversation: each of them would pay once more for what the others know.",
  "model/rules/driver.ts requestsByModel":
    "A memo, and what a model's provider refused: agents are made for one turn, and their drivers with them; the model stays.",
  "model/rules/driver.ts tried": "A mark on errors, which a driver around another one reads.",
  "model/rules/pictures.ts sizes": "A memo: the file alone says how large its picture is.",
  "model/rules/providers.ts known": "A memo: the names of provider and model alone say the rules.",
  "run/prompt.ts settled":
    "A memo: promptFrom is pure, and drivers know by the identity of a message what they have encoded.",
  "toolbox/toolbox.ts #made":
    "A memo: the array of tools alone says its schemas, and agents are made anew from the same array.",
};

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

function stateIn(file: string, source: string): string[] {
  const { program } = parseSync(file, source);
  const found: string[] = [];
  const changes = (name: string) =>
    new RegExp(`\\b${name}\\s*\\.(set|add|delete|clear|push|splice|shift)\\(`).test(source);
  const look = (name: string, init: unknown) => {
    const made = init as {
      type?: string;
      callee?: { name?: string };
      arguments?: unknown[];
      elements?: unknown[];
    } | null;
    if (made?.type === "NewExpression" && /^(Weak)?(Map|Set)$/.test(made.callee?.name ?? "")) {
      if (made.arguments?.length === 0 || changes(name)) found.push(name);
    } else if (made?.type === "ArrayExpression" && changes(name)) found.push(name);
  };
  for (const statement of program.body as unknown as readonly Node[]) {
    const declared = (statement.type === "ExportNamedDeclaration" ? statement.declaration : statement) as Node | null;
    if (declared?.type === "VariableDeclaration") {
      for (const { id, init } of declared.declarations as readonly { id: { name?: string }; init: unknown }[]) {
        if (declared.kind !== "const") found.push(id.name ?? "a pattern");
        else look(id.name ?? "", init);
      }
    }
    if (declared?.type !== "ClassDeclaration") continue;
    for (const member of (declared.body as { body: readonly Node[] }).body) {
      const key = member.key as Node | undefined;
      const name = `${key?.type === "PrivateIdentifier" ? "#" : ""}${key?.name}`;
      if (member.type === "PropertyDefinition" && member.static === true) look(name, member.value);
    }
  }
  return found;
}

test("H10: no module of core keeps state, but for what is written here with its reason", () => {
  const files = globSync("**/*.ts", { cwd: core }).filter((file) => !/\.(test|fixture)\.ts$|^testing\//.test(file));
  expect(files.length).toBeGreaterThan(80);
  const found = files.flatMap((file) => {
    const path = file.replaceAll("\\", "/");
    return stateIn(path, readFileSync(join(core, file), "utf8")).map((name) => `${path} ${name}`);
  });
  expect(found.sort()).toEqual(Object.keys(REASONS).sort());
});

test.each([
  ["a let", "let last: string | undefined;", ["last"]],
  ["a table that begins empty", "export const seen = new WeakMap<object, string>();", ["seen"]],
  ["a table that is changed", 'const names = new Set(["a"]);\nnames.add("b");', ["names"]],
  ["a list that grows", "const all: string[] = [];\nall.push(x);", ["all"]],
  ["a static of a class", "class A {\n  static readonly #made = new Map();\n}", ["#made"]],
  ["a table that stays as it is", 'const names = new Set(["a"]);\nnames.has("b");', []],
  ["a field", "class A {\n  readonly #made = new Map();\n}", []],
  ["a variable of a function", "function f() {\n  let last = new Map();\n}", []],
])("H10: %s is told from what it is not", (_what, source, names) => {
  expect(stateIn("a.ts", source)).toEqual(names);
});

test("H10: one place drives runs: it begins turns, interrupts them, and lets the next one onto the branch", () => {
  const drivers = globSync("**/*.ts", { cwd: core }).filter((file) => {
    if (/\.(test|fixture)\.ts$|^testing\//.test(file)) return false;
    const source = readFileSync(join(core, file), "utf8");
    return /\b(runTurn|interruptOn)\(/.test(source.replace(/export (async )?function (runTurn|interruptOn)\(/, ""));
  });
  expect(drivers).toEqual(["turn/drive.ts"]);
});
