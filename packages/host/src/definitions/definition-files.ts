import { readdirSync, statSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { readFileStart, textOf } from "../places/read-file.ts";
import type { SettingsFault } from "../settings/fault.ts";

/** Bytes of one file. */
const LARGEST = 256 * 1024;

/** A file of a user or a project that defines something. */
export interface DefinitionFile {
  /** Its name without the ending; of a skill, that of its folder; of a command in a folder, `folder:name`. */
  readonly name: string;
  readonly path: string;
  readonly content: string;
}

/** A file that may define something. */
type Place = Pick<DefinitionFile, "name" | "path">;

/** A definition, and what is wrong with its file that can be used all the same. */
export interface ReadDefinition<T> {
  readonly definition: T;
  readonly fault?: SettingsFault | undefined;
}

/** A folder with definitions. */
export interface DefinitionFolder {
  readonly path: string;
  /** The root of the project that it belongs to: no link leads out of that. Of the user's own, links are followed anywhere. */
  readonly within?: string | undefined;
}

/** What was read, and what could not be. */
export interface Definitions<T> {
  readonly found: readonly T[];
  readonly faults: readonly SettingsFault[];
}

/**
 * The definitions of several folders, those of later ones in the place of earlier ones of the same name. What is wrong
 * with one hides no other.
 */
export function definitionsIn<T extends { readonly name: string }>(
  folders: readonly DefinitionFolder[],
  filesIn: (folder: string) => readonly Place[],
  read: (file: DefinitionFile) => ReadDefinition<T> | SettingsFault,
): Definitions<T> {
  const found = new Map<string, T>();
  const faults: SettingsFault[] = [];
  const places = folders.flatMap(({ path, within }) => filesIn(path).map((place) => [place, within] as const));
  for (const [place, within] of places) {
    const file = readDefinition(place, within);
    const made = "problem" in file ? file : read(file);
    const fault = "problem" in made ? made : made.fault;
    if (fault) faults.push(fault);
    if ("definition" in made) found.set(made.definition.name, made.definition);
  }
  return { found: [...found.values()].sort((a, b) => a.name.localeCompare(b.name)), faults };
}

/** The Markdown files of a folder. */
export function markdownFiles(folder: string): Place[] {
  return namesIn(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => ({ name: basename(name, ".md"), path: join(folder, name) }));
}

/** The Markdown files of a folder and of the folders in it: `git/commit.md` is `git:commit`. */
export function nestedMarkdownFiles(folder: string): Place[] {
  return filesBelow(folder)
    .filter((path) => path.endsWith(".md"))
    .map((path) => ({ name: relative(folder, path).slice(0, -".md".length).replaceAll(sep, ":"), path }));
}

/** The skills of a folder: each a folder with a `SKILL.md`, which may be missing. */
export function skillFiles(folder: string): Place[] {
  return namesIn(folder)
    .filter((name) => !name.startsWith(".") && isFolder(join(folder, name)))
    .map((name) => ({ name, path: join(folder, name, "SKILL.md") }));
}

/** All files below a folder, in a fixed order. Folders that are links are named and not entered. */
export function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  } catch {
    // There is no such folder, or nobody may look into it: then there is nothing to find.
    return [];
  }
}

function readDefinition({ name, path }: Place, within: string | undefined): DefinitionFile | SettingsFault {
  const content = readFileStart(path, LARGEST, within);
  const fault = (problem: string, advice: string) => ({ source: path, problem, advice });
  if (content.state === "absent") return fault("there is no such file", "create it, or remove its folder");
  if (content.state === "unreadable") return fault(content.problem, "make it readable");
  if (content.size > LARGEST) return fault(`it has ${content.size} bytes`, `keep it below ${LARGEST}`);
  const text = textOf(content.bytes);
  return text === undefined
    ? fault("it is neither UTF-8 nor UTF-16", "save it as UTF-8")
    : { name, path, content: text };
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // It leads nowhere, or nobody may look at it.
    return false;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    // There is no such folder, or nobody may look into it: then there is nothing to find.
    return [];
  }
}
