import { fileURLToPath } from "node:url";
import { isJsonRecord } from "@banyan/core/shown";

/**
 * The command, paths and web addresses in the arguments of a tool call. They are found by argument names that many
 * programs use.
 */
export interface NamedActs {
  /** The shell command that the call runs; several commands are separated by line feeds. */
  readonly command: string | undefined;
  readonly paths: readonly string[];
  readonly urls: readonly string[];
  /** True if an argument contains text for a file. The call then changes the files in `paths`. */
  readonly writes: boolean;
}

const PATH =
  /^(?:abs|absolute|rel|relative|full|file|dir|directory|folder|notebook|source|src|destination|dest|dst|old|new|target|input|output|local|from|to)*(?:path|file|filename|directory|dir|folder|notebook|destination)s?$/;
/** `source` counts as a path only next to a destination: many tools use the name for something else. */
const SOURCE = /^(?:source|src)s?$/;
const COMMAND = /^(?:shell|bash|sh|exec)?(?:command|cmd|commandline)s?$/;
const PROGRAM = /^(?:program|executable|binary)$/;
const WORDS = /^(?:args|argv|arguments|argument)$/;
const FOLDER = /^(?:cwd|workdir|workingdir|workingdirectory)$/;
const ADDRESS = /^(?:url|uri|href|link|address)s?$/;
const CONTENT =
  /^(?:content|contents|text|data|body|patch|diff|edit|edits|changes|replacement|(?:file|old|new|insert|append)(?:text|string|str|content|contents|source|line|lines))$/;

const PATCHED =
  /^(?:\*\*\* (?:(?:Add|Update|Delete) File|Move to): |(?:\+\+\+|---) (?:[ab]\/)?(?!\/dev\/null))(.+?)(?:\t.*)?\r?$/gm;

/**
 * Finds the command, paths and web addresses in the arguments of a tool call, at any depth (S43). Uses the names of the
 * arguments, not the tool's description of the call.
 * @param root The folder in which commands start. A command with another folder argument gets a leading `cd`.
 */
export function namedActs(input: unknown, root?: string): NamedActs {
  const commands: string[] = [];
  const paths = new Set<string>();
  const urls = new Set<string>();
  let writes = false;
  const take = (name: string, value: unknown): void => {
    if (PATH.test(name)) for (const path of nonEmptyTexts(value)) if (!isFileAddress(path)) paths.add(path);
    if (ADDRESS.test(name)) for (const url of nonEmptyTexts(value)) if (!isFileAddress(url)) urls.add(url);
    if (!CONTENT.test(name) || typeof value === "number" || typeof value === "boolean") return;
    writes = true;
    // Codex lists changes under the paths of the changed files.
    if (name === "changes" && isJsonRecord(value)) for (const path of Object.keys(value)) paths.add(path);
    for (const text of nonEmptyTexts(value)) for (const [, path = ""] of text.matchAll(PATCHED)) paths.add(path);
  };
  const ahead: unknown[] = [input];
  for (const value of ahead) {
    if (typeof value === "string" && isFileAddress(value)) paths.add(urlPath(value));
    if (Array.isArray(value)) ahead.push(...value);
    if (!isJsonRecord(value)) continue;
    const command = commandInValues(value, root);
    if (command !== undefined) commands.push(command);
    const isMoved = Object.keys(value).some((key) => /^(?:destination|dest|dst|target)/.test(plainKey(key)));
    for (const [key, inner] of Object.entries(value)) {
      const name = plainKey(key);
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

/** Returns the arguments of a call that can be paths: all except file content and descriptions. */
export function withoutContent(input: unknown): unknown {
  if (Array.isArray(input)) return input.map(withoutContent);
  if (!isJsonRecord(input)) return input;
  const kept = Object.entries(input).filter(([key, value]) => {
    const name = plainKey(key);
    return !(name === "title" || name === "description" || (CONTENT.test(name) && typeof value === "string"));
  });
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutContent(value)]));
}

function commandInValues(values: Readonly<Record<string, unknown>>, root: string | undefined): string | undefined {
  const entries = Object.entries(values).map(([key, value]) => [plainKey(key), value] as const);
  const valueAt = (name: RegExp) => entries.find(([key, value]) => name.test(key) && value !== null)?.[1];
  const words = wordList(valueAt(WORDS));
  const named = valueAt(COMMAND) ?? (words === undefined ? undefined : valueAt(PROGRAM));
  const several = entries.some(([key]) => COMMAND.test(key) && key.endsWith("s")) && Array.isArray(named);
  const text = several ? nonEmptyTexts(named).join("\n") : commandText(named, words);
  if (text === undefined || text.trim() === "") return undefined;
  const folder = valueAt(FOLDER);
  const moves = typeof folder === "string" && folder !== "" && folder !== "." && folder !== root && root !== undefined;
  return moves ? `cd ${quoteShellWord(folder)} && ${text}` : text;
}

function commandText(named: unknown, words: readonly string[] | undefined): string | undefined {
  if (typeof named === "string") return [named, ...(words ?? []).map(quoteShellWord)].join(" ");
  const all = wordList(named);
  if (all === undefined || all.length === 0) return undefined;
  const [shell = "", option = "", text] = all;
  if (/(?:^|\/)(?:ba|da|z|k)?sh$/.test(shell) && /^-\w*c$/.test(option) && text !== undefined && all.length === 3)
    return text;
  return [...all, ...(words ?? [])].map(quoteShellWord).join(" ");
}

function wordList(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((word) => typeof word === "string") ? value : undefined;
}

function quoteShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function nonEmptyTexts(value: unknown): readonly string[] {
  return [value].flat().filter((text): text is string => typeof text === "string" && text !== "");
}

function isFileAddress(text: string): boolean {
  return /^file:\/\/\S+$/i.test(text);
}

function urlPath(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    // A file address of another machine: leave it as written, so that rules judge the whole address.
    return url;
  }
}

function plainKey(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9]/g, "");
}
