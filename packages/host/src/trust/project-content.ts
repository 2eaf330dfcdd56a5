import { createHash } from "node:crypto";
import { lstatSync, readlinkSync } from "node:fs";
import { basename, extname, join, relative } from "node:path";
import { commandDigest, describeEntry } from "@banyan/tools/mcp/consent";
import { filesBelow } from "../definitions/definition-files.ts";
import { instructionFile } from "../instructions/instructions.ts";
import { foldersDownTo, type ProjectPaths, projectOf } from "../places/project.ts";
import { listFolder, readFileStart } from "../places/read-file.ts";
import { joinedHooks, readClaudeSettings } from "../settings/claude-settings.ts";
import { readOneSetting, readProjectLayer } from "../settings/layer.ts";
import { listHooks } from "../settings/listed-hooks.ts";
import type { Settings } from "../settings/schema.ts";
import { mcpServersOf } from "../settings/schema.ts";

/** A part of a project's configuration that a user can trust. */
export interface ProjectItem {
  readonly kind: "rule" | "hook" | "MCP server" | "agent" | "command" | "skill" | "setting" | "instructions";
  /** The name, or the rule itself. */
  readonly name: string;
  /** The command, value or file of the part, on one line, in the project's own words. */
  readonly detail: string;
  /** True if the part can run or allow something. If such a part is new or changed, the user is asked again. */
  readonly acts: boolean;
  /** Digest of the content (SHA-256, hexadecimal). */
  readonly digest: string;
}

/** Maximum bytes of a file, and files of a skill, to hash. For more, size and time are hashed. */
const LARGEST = 1024 * 1024;
const MOST_FILES = 1_000;

/**
 * Lists the configuration of an untrusted project around a folder. Nothing takes effect (S5). Never throws.
 * @example for (const { detail, acts } of untrustedContent(".")) if (acts) console.log(detail);
 */
export function untrustedContent(directory: string): ProjectItem[] {
  const project = projectOf(directory);
  const { settings } = readProjectLayer(project.settings, "");
  const mcpServers = { ...readOneSetting(project.mcp, "mcpServers").settings.mcpServers, ...settings.mcpServers };
  const claude = readClaudeSettings(project.claude);
  const hooks = joinedHooks(settings.hooks, claude.hooks);
  const statusLine = settings.statusLine ?? claude.statusLine;
  return [
    ...settingItems({ ...settings, mcpServers, hooks, ...(statusLine && { statusLine }) }),
    ...markdownItems(project, "agent", project.agents),
    ...project.commands.flatMap((folder) => markdownItems(project, "command", folder)),
    ...skillItems(project),
    ...instructionItems(project, directory),
  ];
}

function settingItems({
  $schema: _,
  permissions,
  mcpServers,
  agents,
  hooks,
  statusLine,
  ...others
}: Settings): ProjectItem[] {
  const { allow = [], ...restrictions } = permissions ?? {};
  const servers = Object.entries(mcpServersOf({ mcpServers }));
  return [
    ...allow.map((rule) => item("rule", rule, "runs without asking", true, rule)),
    ...servers.map(([name, entry]) => item("MCP server", name, describeEntry(entry), true, commandDigest(entry))),
    ...hookItems(hooks),
    ...(statusLine ? [item("hook", "statusLine", statusLine.command, true, statusLine.command)] : []),
    ...Object.entries(agents ?? {}).map(([name, agent]) => item("agent", name, jsonText(agent), true)),
    ...Object.entries({ ...others, ...unlessEmpty("permissions", restrictions) }).map(([name, value]) =>
      item("setting", name, jsonText(value), false),
    ),
  ];
}

function hookItems(hooks: Settings["hooks"]): ProjectItem[] {
  return listHooks(hooks).map(({ event, matcher, command }) =>
    item("hook", `${event} ${matcher}`, command, true, command),
  );
}

function unlessEmpty(name: string, value: object): Record<string, unknown> {
  return Object.keys(value).length > 0 ? { [name]: value } : {};
}

function markdownItems({ root }: ProjectPaths, kind: "agent" | "command", folder: string): ProjectItem[] {
  return filesBelow(folder)
    .filter((path) => extname(path) === ".md")
    .map((path) => {
      const name = relative(folder, path).slice(0, -".md".length);
      return item(kind, name, relative(root, path), true, projectFileDigest(path));
    });
}

function skillItems({ root, skills }: ProjectPaths): ProjectItem[] {
  return skills
    .flatMap((place) => listFolder(place).map((name) => join(place, name)))
    .filter((folder) => readFileStart(join(folder, "SKILL.md"), 0).state === "read")
    .map((folder) => {
      const files = filesBelow(folder).map((path, index) => [
        relative(folder, path),
        index < MOST_FILES ? projectFileDigest(path) : contentStamp(path),
      ]);
      return item("skill", basename(folder), relative(root, folder), true, jsonText(files));
    });
}

function instructionItems({ root, around }: ProjectPaths, directory: string): ProjectItem[] {
  return foldersDownTo(around, directory)
    .flatMap((folder) => instructionFile(folder) ?? [])
    .filter((path) => readFileStart(path, 0).state === "read")
    .map((path) => item("instructions", relative(root, path), relative(root, path), false, projectFileDigest(path)));
}

function item(
  kind: ProjectItem["kind"],
  name: string,
  detail: string,
  acts: boolean,
  /** Further content that is not in `detail`. */
  says = "",
): ProjectItem {
  return { kind, name, detail, acts, digest: sha256(jsonText([kind, name, detail, says])) };
}

/** Changes with the content of a file, or with the target of a link that is not followed. */
function projectFileDigest(path: string): string {
  const content = readFileStart(path, LARGEST);
  return content.state === "read" ? sha256(content.bytes, String(content.size)) : contentStamp(path);
}

function contentStamp(path: string): string {
  try {
    const stats = lstatSync(path);
    return stats.isSymbolicLink() ? readlinkSync(path) : `${stats.size} ${stats.mtimeMs}`;
  } catch {
    return "absent";
  }
}

function sha256(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

function jsonText(value: unknown): string {
  return JSON.stringify(value);
}
