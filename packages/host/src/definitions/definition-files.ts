import { readdirSync, statSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { decodeUtfText, listFolder, readFileStart } from "../places/read-file.ts";
import type { SettingsFault } from "../settings/fault.ts";

const LARGEST = 256 * 1024;

/** A Markdown file that defines an agent, a command or a skill. */
export interface DefinitionFile {
  /**
   * The name of the definition: the file's name without extension, the folder of a skill, or `folder:name` for a
   * command in a folder.
   */
  readonly name: string;
  readonly path: string;
  readonly content: string;
}

type DefinitionLocation = Pick<DefinitionFile, "name" | "path">;

/** A definition, and the fault of its file, if any. */
export interface ReadDefinition<T> {
  readonly definition: T;
  readonly fault?: SettingsFault | undefined;
}

/** A folder of Markdown files with definitions. */
export interface DefinitionFolder {
  readonly path: string;
  /** The root of the project, which links must not leave. Absent for the user's own folders. */
  readonly within?: string | undefined;
}

/** The definitions of some folders, and the faults of unusable files. */
export interface Definitions<T> {
  readonly found: readonly T[];
  readonly faults: readonly SettingsFault[];
}

/** Reads the definitions of several folders. Definitions in later folders replace earlier ones of the same name. */
export function definitionsIn<T extends { readonly name: string }>(
  folders: readonly DefinitionFolder[],
  filesIn: (folder: string) => readonly DefinitionLocation[],
  read: (file: DefinitionFile) => ReadDefinition<T> | SettingsFault,
): Definitions<T> {
  const found = new Map<string, T>();
  const faults: SettingsFault[] = [];
  const locations = folders.flatMap(({ path, within }) => filesIn(path).map((location) => [location, within] as const));
  for (const [location, within] of locations) {
    const file = readDefinition(location, within);
    const made = "problem" in file ? file : read(file);
    const fault = "problem" in made ? made : made.fault;
    if (fault) faults.push(fault);
    if ("definition" in made) found.set(made.definition.name, made.definition);
  }
  return { found: [...found.values()].sort((a, b) => a.name.localeCompare(b.name)), faults };
}

/** Lists the Markdown files in a folder. */
export function markdownFiles(folder: string): DefinitionLocation[] {
  return listFolder(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => ({ name: basename(name, ".md"), path: join(folder, name) }));
}

/** Lists the Markdown files in a folder and its subfolders: `git/commit.md` has the name `git:commit`. */
export function nestedMarkdownFiles(folder: string): DefinitionLocation[] {
  return filesBelow(folder)
    .filter((path) => path.endsWith(".md"))
    .map((path) => ({ name: relative(folder, path).slice(0, -".md".length).replaceAll(sep, ":"), path }));
}

/** Lists the skills in a folder. Each subfolder is a skill, even if it has no `SKILL.md`. */
export function skillFiles(folder: string): DefinitionLocation[] {
  return listFolder(folder)
    .filter((name) => !name.startsWith(".") && isExistingFolder(join(folder, name)))
    .map((name) => ({ name, path: join(folder, name, "SKILL.md") }));
}

/** Lists all files below a folder in a fixed order. Does not follow links to folders. */
export function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  } catch {
    // The folder is missing or unreadable.
    return [];
  }
}

function readDefinition(
  { name, path }: DefinitionLocation,
  within: string | undefined,
): DefinitionFile | SettingsFault {
  const content = readFileStart(path, LARGEST, within);
  const fault = (problem: string, advice: string) => ({ source: path, problem, advice });
  if (content.state === "absent") return fault("there is no such file", "create it, or remove its folder");
  if (content.state === "unreadable") return fault(content.problem, "make it readable");
  if (content.size > LARGEST) return fault(`it has ${content.size} bytes`, `keep it below ${LARGEST}`);
  const text = decodeUtfText(content.bytes);
  return text === undefined
    ? fault("it is neither UTF-8 nor UTF-16", "save it as UTF-8")
    : { name, path, content: text };
}

function isExistingFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
