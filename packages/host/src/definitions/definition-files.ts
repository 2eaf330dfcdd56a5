import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { readFileStart } from "../read-file.ts";
import type { SettingsFault } from "../settings/fault.ts";

/** Bytes of one file. */
const LARGEST = 256 * 1024;

/** A file of a user or a project that defines something. */
export interface DefinitionFile {
  /** Its name without the ending; of a skill, that of its folder. */
  readonly name: string;
  readonly path: string;
  readonly content: string;
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
  filesIn: (folder: string) => readonly string[],
  read: (file: DefinitionFile) => T | SettingsFault,
): Definitions<T> {
  const found = new Map<string, T>();
  const faults: SettingsFault[] = [];
  const paths = folders.flatMap(({ path, within }) => filesIn(path).map((file) => [file, within] as const));
  for (const [path, within] of paths) {
    const file = readDefinition(path, within);
    const made = "problem" in file ? file : read(file);
    if ("problem" in made) faults.push(made);
    else found.set(made.name, made);
  }
  return { found: [...found.values()].sort((a, b) => a.name.localeCompare(b.name)), faults };
}

/** The Markdown files of a folder. */
export function markdownFiles(folder: string): string[] {
  return namesIn(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
}

/** The skills of a folder: each a folder with a `SKILL.md`, which may be missing. */
export function skillFiles(folder: string): string[] {
  return namesIn(folder)
    .filter((name) => !name.startsWith(".") && isFolder(join(folder, name)))
    .map((name) => join(folder, name, "SKILL.md"));
}

function readDefinition(path: string, within: string | undefined): DefinitionFile | SettingsFault {
  const content = readFileStart(path, LARGEST, within);
  const fault = (problem: string, advice: string) => ({ source: path, problem, advice });
  if (content.state === "absent") return fault("there is no such file", "write it, or take its folder away");
  if (content.state === "unreadable") return fault(content.problem, "make it readable");
  if (content.size > LARGEST) return fault(`it has ${content.size} bytes`, `keep it below ${LARGEST}`);
  const name = basename(path) === "SKILL.md" ? basename(join(path, "..")) : basename(path, ".md");
  try {
    return { name, path, content: new TextDecoder("utf-8", { fatal: true }).decode(content.bytes) };
  } catch {
    return fault("it is not UTF-8", "save it as UTF-8");
  }
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
