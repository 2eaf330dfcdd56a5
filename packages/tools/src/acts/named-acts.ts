import { fileURLToPath } from "node:url";

/** What the arguments of a call name, by the names that tools of other programs give their arguments. */
export interface NamedActs {
  /** The command that it runs, as a shell takes it. Several commands stand in lines of their own. */
  readonly command: string | undefined;
  /** Files and folders, in the order of the arguments, each once. */
  readonly paths: readonly string[];
  /** Web addresses. */
  readonly urls: readonly string[];
  /** An argument holds text for a file, so the call changes what `paths` names. */
  readonly writes: boolean;
}

/** The names of arguments, in lower case, without what joins their words. */
const PATH =
  /^(?:abs|absolute|rel|relative|full|file|dir|directory|folder|notebook|source|src|destination|dest|dst|old|new|target|input|output|local|from|to)*(?:path|file|filename|directory|dir|folder|notebook|destination)s?$/;
/** A path only where a destination stands beside it: many tools call something else so. */
const SOURCE = /^(?:source|src)s?$/;
const COMMAND = /^(?:shell|bash|sh|exec)?(?:command|cmd|commandline)s?$/;
const PROGRAM = /^(?:program|executable|binary)$/;
const WORDS = /^(?:args|argv|arguments|argument)$/;
const FOLDER = /^(?:cwd|workdir|workingdir|workingdirectory)$/;
const ADDRESS = /^(?:url|uri|href|link|address)s?$/;
const CONTENT =
  /^(?:content|contents|text|data|body|patch|diff|edit|edits|changes|replacement|(?:file|old|new|insert|append)(?:text|string|str|content|contents|source|line|lines))$/;

/** Lines of a patch that name a file, as `apply_patch` and `diff -u` write them. */
const PATCHED =
  /^(?:\*\*\* (?:(?:Add|Update|Delete) File|Move to): |(?:\+\+\+|---) (?:[ab]\/)?(?!\/dev\/null))(.+?)(?:\t.*)?\r?$/gm;

/**
 * Reads what the arguments of a call name, at any depth. This is the one table for agents of other programs and for MCP
 * tools (S43): an argument counts by its own name, whatever the call is said to do.
 * @param root The folder that a command starts in. A command with another folder beside it begins with `cd`.
 */
export function namedActs(input: unknown, root?: string): NamedActs {
  const commands: string[] = [];
  const paths = new Set<string>();
  const urls = new Set<string>();
  let writes = false;
  const take = (name: string, value: unknown): void => {
    if (PATH.test(name)) for (const path of textsOf(value)) if (!isFileAddress(path)) paths.add(path);
    if (ADDRESS.test(name)) for (const url of textsOf(value)) if (!isFileAddress(url)) urls.add(url);
    if (!CONTENT.test(name) || typeof value === "number" || typeof value === "boolean") return;
    writes = true;
    // Codex tells changes by the files that they are in.
    if (name === "changes" && isRecord(value)) for (const path of Object.keys(value)) paths.add(path);
    for (const text of textsOf(value)) for (const [, path = ""] of text.matchAll(PATCHED)) paths.add(path);
  };
  const ahead: unknown[] = [input];
  for (const value of ahead) {
    if (typeof value === "string" && isFileAddress(value)) paths.add(pathOf(value));
    if (Array.isArray(value)) ahead.push(...value);
    if (!isRecord(value)) continue;
    const command = commandOf(value, root);
    if (command !== undefined) commands.push(command);
    const isMoved = Object.keys(value).some((key) => /^(?:destination|dest|dst|target)/.test(plain(key)));
    for (const [key, inner] of Object.entries(value)) {
      const name = plain(key);
      take(isMoved && SOURCE.test(name) ? "path" : name, inner);
      ahead.push(inner);
    }
  }
  return {
    command: commands.length === 0 ? undefined : commands.join("\n"),
    paths: [...paths],
    urls: [...urls],
    writes: writes && paths.size > 0,
  };
}

/** The input without the text that comes into a file, and without prose about the call: what is left may name places. */
export function withoutContent(input: unknown): unknown {
  if (Array.isArray(input)) return input.map(withoutContent);
  if (!isRecord(input)) return input;
  const kept = Object.entries(input).filter(([key, value]) => {
    const name = plain(key);
    return !(name === "title" || name === "description" || (CONTENT.test(name) && typeof value === "string"));
  });
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutContent(value)]));
}

/** The command of an object: a text, or words, with the words beside it behind it. */
function commandOf(values: Readonly<Record<string, unknown>>, root: string | undefined): string | undefined {
  const entries = Object.entries(values).map(([key, value]) => [plain(key), value] as const);
  const valueAt = (name: RegExp) => entries.find(([key, value]) => name.test(key) && value !== null)?.[1];
  const words = wordsIn(valueAt(WORDS));
  const named = valueAt(COMMAND) ?? (words === undefined ? undefined : valueAt(PROGRAM));
  const several = entries.some(([key]) => COMMAND.test(key) && key.endsWith("s")) && Array.isArray(named);
  const text = several ? textsOf(named).join("\n") : commandText(named, words);
  if (text === undefined || text.trim() === "") return undefined;
  const folder = valueAt(FOLDER);
  const moves = typeof folder === "string" && folder !== "" && folder !== "." && folder !== root && root !== undefined;
  return moves ? `cd ${quoted(folder)} && ${text}` : text;
}

function commandText(named: unknown, words: readonly string[] | undefined): string | undefined {
  if (typeof named === "string") return [named, ...(words ?? []).map(quoted)].join(" ");
  const all = wordsIn(named);
  if (all === undefined || all.length === 0) return undefined;
  const [shell = "", option = "", text] = all;
  // The text of a shell's `-c` is what runs.
  if (/(?:^|\/)(?:ba|da|z|k)?sh$/.test(shell) && /^-\w*c$/.test(option) && text !== undefined && all.length === 3)
    return text;
  return [...all, ...(words ?? [])].map(quoted).join(" ");
}

function wordsIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((word) => typeof word === "string") ? value : undefined;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function textsOf(value: unknown): readonly string[] {
  return [value].flat().filter((text): text is string => typeof text === "string" && text !== "");
}

function isFileAddress(text: string): boolean {
  return /^file:\/\/\S+$/i.test(text);
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    // An address of another machine: rules see it as it is written.
    return url;
  }
}

function plain(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9]/g, "");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
