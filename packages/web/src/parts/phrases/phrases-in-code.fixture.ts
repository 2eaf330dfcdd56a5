import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";

const src = fileURLToPath(new URL("../..", import.meta.url));

const packages = fileURLToPath(new URL("../../../..", import.meta.url));

/** Files outside the page with sentences for users. */
const TOLD = [
  "client/src/words/{amounts,broken-turn,cache-misses,changers,goal-lines,shown-call}.ts",
  "core/src/conversation/shown/{amounts,shown-plan}.ts",
  "core/src/conversation/broken-turn.ts",
  "client/src/display/{fold,item-sentence}.ts",
  "client/src/actions/*.ts",
];

/** Files that are not part of the page for users. */
const NOT_OF_THE_PAGE = /\.(test|fixture)\.tsx?$|^parts\/design\/gallery\.tsx$/;

/** A phrase in the code; with `many`, its plural. */
export interface PhraseInCode {
  readonly phrase: string;
  readonly many?: string;
}

/** The phrases in code, and texts that are not phrases, each with its location. */
export interface SaidInCode {
  readonly phrases: readonly PhraseInCode[];
  readonly others: readonly string[];
}

/** The phrases in the code of the page, and those of the engine's sentences that the page translates. */
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

/** The phrases in one file. */
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
    // Text of an error without a phrase is for programmers.
    const words = isThrown && node.type !== "JSXText" ? undefined : wordsIn(node);
    if (words !== undefined) other(words, node);
    const inside = said ? (node.arguments ?? []).filter((each) => !literalsOf(each)) : childrenOf(node);
    const isError = node.type === "NewExpression" && node.callee?.name === "Error";
    open.push(...inside.map((each) => ({ node: each, isThrown: isThrown || isError })));
  }
  return { phrases, others: [...new Set(others)] };
}

/** The phrases of a call of `t`, `tCount`, `tParts` or `say`. */
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

/** The phrases in an action's help, which the page translates. */
function wordsOfAction({ type, ...property }: Node): readonly PhraseInCode[] | undefined {
  const { key, value } = property as unknown as { readonly key?: Node; readonly value?: Node };
  if (type !== "Property" || !/^(help|onPage|arguments|elsewhere)$/.test(String(key?.name)) || !value) return undefined;
  return literalsOf(value)?.map((phrase) => ({ phrase }));
}

/** The possible strings of an argument. */
function literalsOf(node: Node): readonly string[] | undefined {
  if (node.type === "Literal") return typeof node.value === "string" ? [node.value] : undefined;
  if (node.type !== "ConditionalExpression") return undefined;
  const { consequent, alternate } = node as unknown as Record<string, Node>;
  const both = [consequent, alternate].map((each) => each && literalsOf(each));
  return both.every((each) => each !== undefined) ? both.flat() : undefined;
}

/** Text for users that is not a phrase. */
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

/** Returns whether a text is two words, or one that begins like a sentence: names in code contain no space. */
function isWords(text: string): boolean {
  return /\p{L}{2,} \p{L}|^\p{Lu}\p{Ll}+[ .:?!]/u.test(text.trim()) && !OF_CODE.test(text);
}

/** CSS classes, selectors, and storage keys. */
const OF_CODE = /(^|\s)[\w-]*(-[\w[\]./%()]+|\[[^\]]*\])(\s|$)|^[#.[]|^(draft|unsent|row) |\{\} \{\}/;

function isStyle({ type, name }: Node): boolean {
  return type === "JSXAttribute" && /^(className|style|d|src|accept|rel)$/.test(String((name as Node).name));
}

function childrenOf(node: Node): readonly Node[] {
  return Object.values(node)
    .flat()
    .filter((each): each is Node => typeof each === "object" && each !== null && "type" in each);
}
