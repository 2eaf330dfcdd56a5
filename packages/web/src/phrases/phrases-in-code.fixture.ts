import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";

const src = fileURLToPath(new URL("..", import.meta.url));

const packages = fileURLToPath(new URL("../../..", import.meta.url));

/** Files outside the page with sentences for users. */
const TOLD = [
  "core/src/conversation/broken-turn.ts",
  "core/src/conversation/shown/{amounts,shown-plan,shown-call}.ts",
  "client/src/display/item-sentence.ts",
  "client/src/actions/*.ts",
];

/** What is no part of the page as people use it. */
const NOT_OF_THE_PAGE = /\.(test|fixture)\.tsx?$|^design\/gallery\.tsx$/;

/** A phrase that the code says; with `many`, one that counts. */
export interface PhraseInCode {
  readonly phrase: string;
  readonly many?: string;
}

/** What is said in code: phrases, and words that are none, each with its place. */
export interface SaidInCode {
  readonly phrases: readonly PhraseInCode[];
  readonly others: readonly string[];
}

/** What is said in the code of the page, and by what the engine tells, whose phrases the page says in its language. */
export function saidInPage(): SaidInCode {
  const told = globSync(TOLD, { cwd: packages, exclude: ["**/*.test.ts", "**/*.fixture.ts"] }).map((file) =>
    saidIn(file, readFileSync(join(packages, file), "utf8")),
  );
  const files = globSync("**/*.{ts,tsx}", { cwd: src }).filter((file) => !NOT_OF_THE_PAGE.test(file));
  const found = files.map((file) => saidIn(file, readFileSync(join(src, file), "utf8")));
  return {
    phrases: [...found, ...told].flatMap(({ phrases }) => phrases),
    others: found.flatMap(({ others }) => others),
  };
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly value?: unknown;
  readonly name?: unknown;
  readonly callee?: Node;
  readonly arguments?: readonly Node[];
}

/** What is said in the code of one file. */
export function saidIn(file: string, code: string): SaidInCode {
  const phrases: PhraseInCode[] = [];
  const others: string[] = [];
  const other = (words: string, { start }: Node) => {
    others.push(`${file}:${code.slice(0, start).split("\n").length} ${words.trim()}`);
  };
  const open = [{ node: parseSync(file, code).program as unknown as Node, isThrown: false }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, isThrown } = next;
    if (node.type === "ImportDeclaration" || isStyle(node)) continue;
    const said = phraseIn(node) ?? wordsOfAction(node);
    if (said) phrases.push(...said);
    else if (node.type === "CallExpression" && /^t(Count|Parts)?$/.test(String(node.callee?.name)))
      other("A phrase stands in the code as a string, whole.", node);
    // What is thrown without a phrase, a programmer reads.
    const words = isThrown && node.type !== "JSXText" ? undefined : wordsIn(node);
    if (words !== undefined) other(words, node);
    const inside = said ? (node.arguments ?? []).filter((each) => !literalsOf(each)) : childrenOf(node);
    const isError = node.type === "NewExpression" && node.callee?.name === "Error";
    open.push(...inside.map((each) => ({ node: each, isThrown: isThrown || isError })));
  }
  return { phrases, others: [...new Set(others)] };
}

/** The phrases of a call that says one. */
function phraseIn({ type, callee, arguments: given = [] }: Node): readonly PhraseInCode[] | undefined {
  if (type !== "CallExpression") return undefined;
  const [first, second, third] = given.map(literalsOf);
  const { object, property } = (callee ?? {}) as { readonly object?: Node; readonly property?: Node };
  const isCount = callee?.name === "tCount" || (object?.name === "say" && property?.name === "count");
  if (callee?.name === "t" || callee?.name === "tParts" || callee?.name === "say")
    return first?.map((phrase) => ({ phrase }));
  if (!isCount || !second || !third) return undefined;
  return [{ phrase: second[0] ?? "", many: third[0] ?? "" }];
}

/** The words of an action that the help shows: they are data, which the page puts into its language. */
function wordsOfAction({ type, ...property }: Node): readonly PhraseInCode[] | undefined {
  const { key, value } = property as unknown as { readonly key?: Node; readonly value?: Node };
  if (type !== "Property" || !/^(help|onPage|arguments|elsewhere)$/.test(String(key?.name)) || !value) return undefined;
  return literalsOf(value)?.map((phrase) => ({ phrase }));
}

/** The strings that an argument may be. */
function literalsOf(node: Node): readonly string[] | undefined {
  if (node.type === "Literal") return typeof node.value === "string" ? [node.value] : undefined;
  if (node.type !== "ConditionalExpression") return undefined;
  const { consequent, alternate } = node as unknown as Record<string, Node>;
  const both = [consequent, alternate].map((each) => each && literalsOf(each));
  return both.every((each) => each !== undefined) ? both.flat() : undefined;
}

/** Words that a person could read, in what is no phrase. */
function wordsIn(node: Node): string | undefined {
  const { type, value } = node;
  if (type === "JSXText") return /\p{L}{2}/u.test(String(value)) ? String(value) : undefined;
  if (type === "JSXAttribute") {
    const given = (value as Node | null)?.value;
    const name = String((node.name as Node).name);
    return /^(aria-label|title|placeholder|alt|label|head|action)$/.test(name) && /\p{L}{2}/u.test(String(given ?? ""))
      ? String(given)
      : undefined;
  }
  const text =
    type === "TemplateLiteral"
      ? (node as unknown as { quasis: readonly { value: { cooked: string } }[] }).quasis
          .map((quasi) => quasi.value.cooked)
          .join("{}")
      : type === "Literal" && typeof value === "string"
        ? value
        : "";
  return isWords(text) ? text : undefined;
}

/** Two words, or one that begins as a sentence does: no name of a thing in the code has a blank. */
function isWords(text: string): boolean {
  return /\p{L}{2,} \p{L}|^\p{Lu}\p{Ll}+[ .:?!]/u.test(text.trim()) && !OF_CODE.test(text);
}

/** Classes of styles, selectors, and names under which something is kept. */
const OF_CODE = /(^|\s)[\w-]*(-[\w[\]./%()]+|\[[^\]]*\])(\s|$)|^[#.[]|^(draft|unsent|row) |\{\} \{\}/;

function isStyle({ type, name }: Node): boolean {
  return type === "JSXAttribute" && /^(className|style|d|src|accept|rel)$/.test(String((name as Node).name));
}

function childrenOf(node: Node): readonly Node[] {
  return Object.values(node)
    .flat()
    .filter((each): each is Node => typeof each === "object" && each !== null && "type" in each);
}
