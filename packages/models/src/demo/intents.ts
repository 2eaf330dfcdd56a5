import type { Json } from "@banyan/core";

/** A tool call that the demo model plans. */
export interface PlannedCall {
  readonly tool: string;
  readonly input: { readonly [name: string]: Json };
}

/** Tool calls that the demo model makes in parallel, in one message. */
export type Round = readonly PlannedCall[];

/** A kind of request that the demo model understands, with the tool calls that fulfil it. */
export interface DemoIntent {
  /** An example for users who ask what the demo understands. */
  readonly example: string;
  /** The first verbs of such requests. After `and`, one of these verbs begins a new request. */
  readonly verbs: readonly string[];
  readonly patterns: readonly RegExp[];
  /** The calls, round by round; undefined if the words match but mean something else. */
  plan(found: IntentMatch): readonly Round[] | undefined;
}

export type IntentMatch = Readonly<Record<string, string | undefined>>;

const QUOTED = "\"[^\"]+\"|'[^']+'|`[^`]+`";
const BARE = "[^\\s,;:\"'`]+?";
const ITEM = `(?:${QUOTED}|${BARE})`;
const FILE = `(?:the )?(?:file )?(?<path>${ITEM})`;
const FILES = `(?:the )?(?:files? )?(?<paths>${ITEM}(?:(?:,? and |, ?)${ITEM})*)`;
const LINES = "lines? (?<start>\\d+)(?:\\s*(?:-|–|to|until)\\s*(?<end>\\d+))?";
const HERE = "(?:this|the|the current|my) (?:folder|directory|project|workspace|repository|repo)|here";
const PLACE = `(?<path>${HERE}|(?:the )?(?:(?:folder|directory) )?${ITEM}(?: folder| directory)?)`;
const CONTENT_FOLLOWS =
  "(?:,? (?:with|containing|saying|that (?:says|contains))(?: (?:the )?(?:contents?|text|words?))?:?|:)\\s+";

/** A sentence, with or without its full stop. */
function sentencePattern(words: string): RegExp {
  return new RegExp(`^(?:${words})(?:(?<=[^\\s.])[.!?]+)?\\s*$`, "is");
}

/** All kinds of requests that the demo model understands. The first kind that matches a request is used. */
export const intents: readonly DemoIntent[] = [
  {
    example: "run `git status`",
    verbs: ["run", "execute"],
    patterns: [
      /^(?:run|execute)(?: the)?(?: shell)?(?: command)?:? (?<command>`[^`]+`)[.!]?\s*$/is,
      /^(?:run|execute)(?: the)?(?: shell)?(?: command)?:? (?<command>.+)$/is,
      /^(?<command>`[^`]+`)\s*$/s,
      /^[$!] ?(?<command>.+)$/s,
    ],
    plan: ({ command }) => [[{ tool: "shell", input: { command: withoutQuotes(command) } }]],
  },
  {
    example: 'create notes.txt with "buy milk"',
    verbs: ["create", "write", "make", "save", "put"],
    patterns: [
      new RegExp(
        `^(?:create|write|make|save)(?: an?)?(?: new)?(?: text)?(?<file> file)?(?: called| named)? (?<path>${ITEM})${CONTENT_FOLLOWS}(?<content>.+)$`,
        "is",
      ),
      sentencePattern(`(?:write|save|put) (?<content>${QUOTED}) (?:to|into|in) ${FILE}`),
      sentencePattern(
        `(?:create|make)(?: an?)?(?: new)?(?: empty)?(?: text)?(?<file> file)?(?: called| named)? (?<path>${ITEM})`,
      ),
    ],
    plan({ file, path, content = "" }) {
      const name = withoutQuotes(path);
      if (!file && !/[./]/.test(name)) return undefined;
      return [[{ tool: "write", input: { path: name, content: unquotedContent(content) } }]];
    },
  },
  {
    example: "replace 'milk' with 'bread' in notes.txt",
    verbs: ["change", "replace", "edit"],
    patterns: [
      sentencePattern(
        `(?:change|replace) (?<before>${QUOTED}|.+?) (?:with|by|to|into) (?<after>${QUOTED}|.+?) in ${FILE}`,
      ),
      sentencePattern(
        `(?:in|edit) ${FILE}[,:]? (?:and )?(?:change|replace) (?<before>${QUOTED}|.+?) (?:with|by|to|into) (?<after>${QUOTED}|.+?)`,
      ),
    ],
    plan({ path, before, after }) {
      const file = withoutQuotes(path);
      return [
        [{ tool: "read", input: { path: file } }],
        [{ tool: "edit", input: { path: file, old_text: withoutQuotes(before), new_text: withoutQuotes(after) } }],
      ];
    },
  },
  {
    example: "list the files in src",
    verbs: ["list", "ls"],
    patterns: [
      sentencePattern(
        `(?:list|ls|show)(?: me)?(?: all)?(?: the)?(?: files| folders| entries| contents?| everything)(?: and folders)?(?: (?:in|of|under|inside) ${PLACE})?`,
      ),
      sentencePattern(`(?:list|ls)(?: ${PLACE})?`),
      sentencePattern(`what(?:'s|’s| is| are| files are)(?: there)? (?:in|inside|under) ${PLACE}`),
    ],
    plan({ path }) {
      const folder = namedFolder(path);
      return /[^./]\.\w+$/.test(folder) ? undefined : [[{ tool: "list", input: { path: folder } }]];
    },
  },
  {
    example: "read README.md and package.json",
    verbs: ["read", "show", "open", "cat", "print"],
    patterns: [
      sentencePattern(`(?:read|show|open|cat|print)(?: me)? ${FILES}(?:,? (?:from )?${LINES})?`),
      sentencePattern(`(?:read|show|print)(?: me)?(?: the)? ${LINES} (?:of|from|in) ${FILES}`),
      sentencePattern(`what(?:'s|’s| is) in ${FILES}`),
    ],
    plan({ paths = "", start, end = start }) {
      const range: PlannedCall["input"] = start === undefined ? {} : { start: Number(start), end: Number(end) };
      const files = Array.from(paths.matchAll(new RegExp(`(?:${QUOTED}|[^\\s,]+)`, "g")), ([item]) => item);
      const named = files.filter((item) => item.toLowerCase() !== "and");
      return [named.map((path) => ({ tool: "read", input: { path: withoutQuotes(path), ...range } }))];
    },
  },
  {
    example: "search for TODO in src",
    verbs: ["search", "find", "grep", "look"],
    patterns: [
      sentencePattern(`(?:search|grep) ${PLACE} for (?<text>${QUOTED}|.+?)`),
      sentencePattern(`(?:search|find|grep|look)(?: for)? (?<text>${QUOTED}|.+?)(?: (?:in|inside|under) ${PLACE})?`),
      sentencePattern(`where is (?<text>${QUOTED}|\\S+?)(?: used| defined| mentioned)?`),
    ],
    plan({ text, path }) {
      const folder = namedFolder(path);
      const place: PlannedCall["input"] = /[*?]/.test(folder)
        ? { glob: folder }
        : folder === "."
          ? {}
          : { path: folder };
      return [[{ tool: "search", input: { pattern: intentPattern(withoutQuotes(text)), ...place } }]];
    },
  },
  {
    example: "what can you do?",
    verbs: ["help", "explain"],
    patterns: [
      sentencePattern("(?:hi|hello|hey)(?:,? (?:there|banyan))?"),
      sentencePattern("help(?: me)?|\\?"),
      sentencePattern("(?:who|what) are you|what (?:can|do) you (?:do|understand|know).*?"),
      sentencePattern("(?:explain|how (?:do|does|can)) .+?|explain"),
    ],
    plan: () => [],
  },
];

function withoutQuotes(text = ""): string {
  const trimmed = text.trim();
  return new RegExp(`^(?:${QUOTED})$`, "s").test(trimmed) ? trimmed.slice(1, -1) : trimmed;
}

/** The exact content, without quotes or fence. */
function unquotedContent(content: string): string {
  const fenced = /^\s*(`{3,}|~{3,})[^\n]*\n(.*\n)?\1\s*$/s.exec(content);
  return fenced ? (fenced[2] ?? "") : withoutQuotes(content);
}

function namedFolder(path = "."): string {
  const words = withoutQuotes(path);
  if (new RegExp(`^(?:${HERE})$`, "i").test(words)) return ".";
  return withoutQuotes(words.replace(/^(?:the )?(?:(?:folder|directory) )?| (?:folder|directory)$/gi, ""));
}

/** A regular expression for exactly this text; `/.../` is used as a regular expression. */
function intentPattern(text: string): string {
  const expression = /^\/(.+)\/$/s.exec(text)?.[1];
  return expression ?? text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
