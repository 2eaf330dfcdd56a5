import type { Tool } from "@banyan/core";
import { jsonSchemaOf } from "@banyan/core/hosts";
import MiniSearch, { type SearchOptions } from "minisearch";

interface ToolEntry {
  /** The name of the tool. It is indexed together with the words of the server's name. */
  readonly name: string;
  readonly words: string;
  readonly description: string;
  readonly parameters: string;
}

/** Searches tools by the words of their names, descriptions and parameters. */
export class ToolIndex {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #index = new MiniSearch<ToolEntry>({
    idField: "name",
    fields: ["words", "description", "parameters"],
    tokenize: splitNameWords,
    processTerm: wordRoot,
  });

  constructor(tools: readonly Tool[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#index.addAll(tools.map(entryOf));
  }

  /**
   * Returns the tools that match most words of the query or their synonyms, the best first. A tool of exactly this name
   * is first.
   */
  find(query: string): Tool[] {
    const words = [...new Set(splitNameWords(query).filter((word) => wordRoot(word) !== ""))];
    const found = new Map<string, { score: number; words: number }>();
    for (const word of words) {
      for (const [name, score] of this.#fitting(word)) {
        const { score: before, words } = found.get(name) ?? { score: 0, words: 0 };
        found.set(name, { score: before + score, words: words + 1 });
      }
    }
    const rank = ({ score, words }: { readonly score: number; readonly words: number }) => score * words;
    const ranked = [...found].toSorted(([, one], [, other]) => rank(other) - rank(one)).map(([name]) => name);
    return [...new Set([query.trim(), ...ranked])].flatMap((name) => this.#tools.get(name) ?? []);
  }

  #fitting(word: string): ReadonlyMap<string, number> {
    const best = new Map<string, number>();
    for (const [meaning, weight] of meaningsOf(word)) {
      for (const { id, score } of this.#index.search(meaning, SEARCH)) {
        best.set(id, Math.max(best.get(id) ?? 0, score * weight));
      }
    }
    return best;
  }
}

const SEARCH: SearchOptions = {
  processTerm: (term) => term,
  boost: { words: 3, description: 2, parameters: 0.5 },
  prefix: (term) => term.length > 3,
  fuzzy: (term) => (term.length > 5 ? 0.2 : false),
};

const SYNONYM = 0.6;

function entryOf({ name, description, input, offeredBy = "" }: Tool): ToolEntry {
  const words = new Set(splitNameWords(`${name} ${offeredBy}`));
  const parameters = parameterWords(jsonSchemaOf(`tool "${name}"`, input)).join(" ");
  return { name, words: [...words].filter((word) => word !== "mcp").join(" "), description, parameters };
}

function parameterWords(schema: unknown, depth = 0): string[] {
  if (typeof schema !== "object" || schema === null || depth > 4) return [];
  const { description, enum: values, properties = {}, items } = schema as Readonly<Record<string, unknown>>;
  const texts = [description, ...(Array.isArray(values) ? values : [])].filter((text) => typeof text === "string");
  const inner = Object.entries(properties ?? {}).flatMap(([name, value]) => [
    name,
    ...parameterWords(value, depth + 1),
  ]);
  return [...texts, ...inner, ...parameterWords(items, depth + 1)];
}

function splitNameWords(text: string): string[] {
  return text
    .replace(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, " ")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
}

/** Returns the stem that a word shares with its other forms (`issues`, `creating`); empty for a stop word. */
function wordRoot(word: string): string {
  if (STOP.has(word)) return "";
  return word.replace(/ies$/, "y").replace(/(?<=\p{L}{3})(?:ing|ed|es|s|e)$/u, "");
}

function meaningsOf(word: string): [meaning: string, weight: number][] {
  const root = wordRoot(word);
  return [[root, 1], ...[...(SAME.get(root) ?? [])].map((other): [string, number] => [other, SYNONYM])];
}

const STOP = new Set(
  "a about all an and any are as at be by can do for from has have how i if in into is it its me my of on or our so some than that the their them then there these this to up used using want was we what when where which will with you your".split(
    " ",
  ),
);

/** Synonyms, one group per line: users and authors of tools choose different words for the same thing. */
const ALIKE = [
  "add create insert make new open start begin put",
  "write create put update append",
  "delete remove drop erase clear destroy forget trash kill",
  "get fetch read retrieve see show view give tell look open download",
  "list all every everything everybody show which enumerate",
  "change edit modify update set replace alter correct fix adjust patch",
  "find look query search lookup google seek",
  "move rename relocate",
  "copy fork duplicate clone",
  "run execute start launch",
  "stop end close cancel abort kill terminate",
  "finish complete close done resolve",
  "approve accept review agree confirm",
  "send post message say write tell notify mail email",
  "upload attach send push",
  "branch line trunk main",
  "use call run apply",
  "join merge combine bring",
  "remember store save keep memory create add",
  "know memory knowledge graph",
  "directory folder tree structure hierarchy overview",
  "choose pick select option entry dropdown",
  "drag pull drop mouse",
  "accessibility accessible seo audit quality",
  "disk filesystem file path",
  "big large long size length bytes",
  "when date time timestamp modified",
  "image picture photo screenshot drawing draw media",
  "generate draw paint",
  "comment remark reply answer note respond",
  "channel room chat",
  "who person user member people author colleague who everybody team entity",
  "boss friend relation relationship connection link knows",
  "issue bug ticket problem defect",
  "pr pull request merge",
  "ci check status build pass pipeline job",
  "history log commits changed changes lately recent recently past",
  "repo repository project",
  "reaction emoji thumbs like",
  "web internet online google website",
  "page site website url web tab address",
  "browse navigate visit go open",
  "click press push button tap",
  "type fill enter input form field",
  "javascript script code evaluate",
  "request call http network ajax fetch",
  "error console log warning message",
  "slow fast speed performance trace load",
  "database sql table query db row customers",
  "docs documentation manual reference guide library",
  "address street location place geocode coordinates",
  "coordinates latitude longitude geocode",
  "high height altitude elevation sea",
  "way route directions drive car walk travel navigate",
  "distance far travel long between",
  "restaurant shop cafe business place local near nearby",
  "calendar event appointment meeting schedule",
  "mail email inbox letter",
  "price cost payment invoice charge bill",
  "environment variable secret key",
  "deploy release publish ship",
  "money balance account",
];
const SAME: ReadonlyMap<string, ReadonlySet<string>> = ALIKE.reduce((same, group) => {
  const roots = group.split(" ").map(wordRoot);
  for (const root of roots) same.set(root, new Set([...(same.get(root) ?? []), ...roots]));
  return same;
}, new Map<string, Set<string>>());
