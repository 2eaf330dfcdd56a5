import { defineTool, type Tool, type ToolContext } from "@banyan/core";
import { type FileChange, type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { cutTo, isJsonRecord } from "@banyan/core/shown";
import { z } from "zod";
import { fileChange } from "../workspace/changes/file-change.ts";
import { assertAllowed, assertJudged, type FileWritingOptions } from "../workspace/changes/file-writing.ts";
import { lineDiff } from "../workspace/changes/line-diff.ts";
import { prepareReplacement } from "../workspace/changes/replace-file.ts";
import { MOST_ASKED_BYTES, unifiedDiff } from "../workspace/changes/unified-diff.ts";
import { type PreparedFile, replaceFiles } from "../workspace/edit-mode/put-in-place.ts";
import { contentDigest, keepBackup } from "../workspace/files/backups.ts";
import { WorkspaceError } from "../workspace/files/error.ts";
import { listFiles } from "../workspace/files/list-files.ts";
import { pathArgument } from "../workspace/files/path-argument.ts";
import { type Location, locate, type Workspace } from "../workspace/files/paths.ts";
import { stripControls } from "../workspace/files/plain-text.ts";
import { assertWritable } from "../workspace/files/protected-paths.ts";
import { encodeText, readText, type TextContent } from "../workspace/files/text-content.ts";
import type { LanguageServers } from "./language-servers.ts";
import { pathOfUri, problemLine } from "./problems.ts";
import { applyTextEdits, readRange, readWorkspaceEdit } from "./text-edits.ts";

/** Milliseconds for one call. A server may first have to load the project. */
const LONGEST = 20_000;
/** Maximum files of one `diagnostics` call, its problems, and places in one answer. */
const MOST_FILES = 50;
const MOST_PROBLEMS = 100;
const MOST_PLACES = 50;
const LONGEST_HOVER = 4_000;
const LONGEST_LINE = 200;

/** The folder of previous contents, and the function that refuses texts. See {@link symbolTools}. */
export type SymbolToolsOptions = Pick<FileWritingOptions, "backups" | "refuse">;

const OPTIONS: OptionNames<SymbolToolsOptions> = { backups: true, refuse: true };

/**
 * Returns the tools `diagnostics {path}` and `symbol {path, line, name, find?, rename_to?}` (E5). A rename changes all its files or none, and a user approves all files with one question.
 * @example
 * const withSymbols = (servers: LanguageServers) => [
 *   ...servers.checked(workspaceTools({ root: "." })),
 *   ...symbolTools(openWorkspace("."), servers, { backups: "/home/me/backups" }),
 * ];
 */
export function symbolTools(workspace: Workspace, servers: LanguageServers, options: SymbolToolsOptions = {}): Tool[] {
  refuseUnknown("symbolTools", options, OPTIONS);
  const tools = [diagnosticsTool(workspace, servers), ...servers.checked([symbolTool(workspace, servers, options)])];
  return tools.map((tool) => ({ ...tool, folder: () => workspace.root }));
}

function diagnosticsTool(workspace: Workspace, servers: LanguageServers): Tool {
  return defineTool({
    name: "diagnostics",
    description: "Lists problems of a file or folder.",
    input: z.object({ path: pathArgument(workspace) }),
    effects: "none",
    files: "read",
    about: ({ path }) => ({ paths: [{ path, access: "read" }], looksAt: { one: "check", several: "checks" } }),
    async execute({ path: named }, { signal }) {
      const { path, kind, real } = await locate(workspace, named);
      const below =
        kind === "directory"
          ? (await listFiles(real)).map((each) => (path === "." ? each : `${path}/${each}`))
          : [path];
      const files = below.filter((each) => servers.canCheck(each));
      if (files.length === 0) throw new WorkspaceError("path", `No language server checks ${path}.`);
      const notes =
        files.length > MOST_FILES ? [`[${files.length - MOST_FILES} more files were not checked: name a folder]`] : [];
      const problems: string[] = [];
      const until = performance.now() + LONGEST;
      for (const [index, file] of files.slice(0, MOST_FILES).entries()) {
        signal.throwIfAborted();
        const left = Math.ceil(until - performance.now());
        if (left <= 0) {
          notes.push(`[${files.length - index} files were not checked, because the servers took too long: try again]`);
          break;
        }
        const found = await servers.inspect(file, left, signal).catch((error: Error) => error);
        if (found instanceof Error) notes.push(`[${file} was not checked: ${found.message}]`);
        else problems.push(...found.map(problemLine));
      }
      if (problems.length > MOST_PROBLEMS) notes.push(`[${problems.length - MOST_PROBLEMS} more problems]`);
      return [...(problems.length === 0 ? ["No problems."] : problems.slice(0, MOST_PROBLEMS)), ...notes].join("\n");
    },
  });
}

const METHODS = {
  definition: "textDocument/definition",
  references: "textDocument/references",
  hover: "textDocument/hover",
};

function symbolTool(workspace: Workspace, servers: LanguageServers, options: SymbolToolsOptions): Tool {
  return defineTool({
    name: "symbol",
    description: "Finds a name in a line, or renames it in all files.",
    input: z.object({
      path: pathArgument(workspace),
      line: z.number(),
      name: z.string(),
      find: z.enum(["definition", "references", "hover"]).optional(),
      rename_to: z.string().optional(),
    }),
    effects: "external",
    files: "write",
    about: ({ path, name, find = "definition", rename_to }) =>
      rename_to === undefined
        ? {
            title: `${find} of ${name}`,
            paths: [{ path, access: "read" }],
            looksAt: { one: "symbol", several: "symbols" },
          }
        : { title: `rename ${name} to ${rename_to}`, paths: [{ path, access: "write" }], untold: "files" },
    async preview({ rename_to, find: _, ...wanted }, { signal }) {
      if (rename_to === undefined) return {};
      const files = await planRename(workspace, servers, { ...wanted, to: rename_to }, options, signal);
      return { changes: files.map(({ change }) => change) };
    },
    async execute({ rename_to, find = "definition", ...wanted }, context) {
      if (rename_to !== undefined)
        return rename(workspace, servers, { ...wanted, to: rename_to }, { ...options, context });
      const params = find === "references" ? { context: { includeDeclaration: true } } : {};
      const { answer } = await ask(workspace, servers, wanted, METHODS[find], params, context.signal);
      if (find === "hover") return hoverText(answer) ?? `The language server says nothing about ${wanted.name}.`;
      const places = placesIn(answer);
      if (places.length === 0) return `The language server finds no ${find} of ${wanted.name}.`;
      const lines = await Promise.all(places.slice(0, MOST_PLACES).map((place) => placeLine(workspace, place)));
      const more = places.length - lines.length;
      return [...new Set(lines), ...(more > 0 ? [`[${more} more]`] : [])].join("\n");
    },
  });
}

/** Renames a symbol as the user allowed it. Throws, and changes nothing, if the change is now another one. */
async function rename(
  workspace: Workspace,
  servers: LanguageServers,
  { to, ...wanted }: SymbolQuery & { readonly to: string },
  { context, ...options }: SymbolToolsOptions & { readonly context: ToolContext },
): Promise<string> {
  const files = await planRename(workspace, servers, { ...wanted, to }, options, context.signal);
  const { agreed } = context;
  for (const { change, location } of files) {
    const seen = agreed?.changes?.find(({ path }) => path === change.path);
    if (agreed?.changes && (seen?.before !== change.before || seen.after !== change.after))
      throw new WorkspaceError("changed", `${change.path} has changed since the user allowed this call. Try again.`);
    const input = { ...wanted, path: location.path, rename_to: to };
    await assertJudged(workspace, { given: wanted.path, location, input }, context);
  }
  await using replacements = new AsyncDisposableStack();
  const prepared: PreparedFile[] = [];
  for (const { location, before, bytes } of files) {
    await keepBackup(options.backups, [before.bytes]);
    const replacement = replacements.use(await prepareReplacement(workspace, location, bytes, before.stats));
    prepared.push({ content: { location, before, bytes }, signal: context.signal, replacement });
  }
  const problem = await replaceFiles({ workspace, ...options }, prepared);
  if (problem !== undefined) throw new WorkspaceError("system", `Nothing was renamed: ${problem}.`);
  for (const { change } of files) await context.changed(change);
  const diffs = files.map(({ location, before, after }) => unifiedDiff(location.path, lineDiff(before.text, after)));
  const where = files.length === 1 ? "1 file" : `${files.length} files`;
  return [`Renamed ${wanted.name} to ${to} in ${where}.`, ...diffs].join("\n");
}

interface RenamedFile {
  readonly location: Location;
  readonly before: TextContent;
  readonly after: string;
  readonly bytes: Buffer;
  readonly change: FileChange;
}

async function planRename(
  workspace: Workspace,
  servers: LanguageServers,
  { to: newName, ...wanted }: SymbolQuery & { readonly to: string },
  { refuse }: SymbolToolsOptions,
  signal: AbortSignal,
): Promise<RenamedFile[]> {
  if (newName.trim() === "") throw new WorkspaceError("match", "The new name is empty.");
  const { answer, shown } = await ask(workspace, servers, wanted, "textDocument/rename", { newName }, signal);
  const files: RenamedFile[] = [];
  for (const [path, edits] of readWorkspaceEdit(workspace.root, answer)) {
    const location = await locate(workspace, path);
    assertWritable(workspace, location);
    if (location.path !== path) throw new WorkspaceError("path", `${path} is a link, which a rename does not change.`);
    const before = await readText(workspace, path);
    if (path === shown.path && before.text !== shown.text)
      throw new WorkspaceError("changed", `${path} was changed by another program meanwhile. Try again.`);
    const after = applyTextEdits(before.text, edits);
    for (const { text } of edits) assertAllowed(path, text, refuse);
    if (after === before.text) continue;
    const bytes = encodeText(path, after, before);
    const [old, now] = [contentDigest(before.bytes), contentDigest(bytes)].map((digest, index) => {
      return { digest, text: index === 0 ? before.text : after };
    });
    files.push({ location, before, after, bytes, change: fileChange(path, old, now, { most: MOST_ASKED_BYTES }) });
  }
  if (files.length === 0)
    throw new WorkspaceError("match", `The language server proposes no change for ${wanted.name}.`);
  return files;
}

interface SymbolQuery {
  readonly path: string;
  readonly line: number;
  readonly name: string;
}

/** Asks the server about a name in a line. Throws a sentence for the model if the line does not have the name. */
async function ask(
  workspace: Workspace,
  servers: LanguageServers,
  { path: named, line, name }: SymbolQuery,
  method: string,
  params: object,
  signal: AbortSignal,
): Promise<{ readonly answer: unknown; readonly shown: TextContent }> {
  const { path } = await locate(workspace, named);
  const shown = await readText(workspace, path);
  const text = shown.text.split("\n")[line - 1];
  const character = text === undefined || name === "" ? -1 : positionOf(text, name);
  if (character === -1)
    throw new WorkspaceError("match", `Line ${line} of ${path} does not contain ${name}. Read the file.`);
  const position = { line: line - 1, character };
  return { answer: await servers.ask(path, shown.text, method, { position, ...params }, LONGEST, signal), shown };
}

/** Returns where a name stands as a whole word; else where it occurs; -1 if it does not. */
function positionOf(line: string, name: string): number {
  const word = new RegExp(`(?<![\\p{L}\\p{N}_$])${RegExp.escape(name)}(?![\\p{L}\\p{N}_$])`, "u").exec(line);
  return word?.index ?? line.indexOf(name);
}

interface ServerPlace {
  readonly uri: unknown;
  readonly line: number;
}

/** Reads locations and links to locations. */
function placesIn(answer: unknown): ServerPlace[] {
  const list = Array.isArray(answer) ? answer : [answer];
  return list.flatMap((item): ServerPlace[] => {
    if (!isJsonRecord(item)) return [];
    const range = readRange(item.targetSelectionRange ?? item.range);
    return range ? [{ uri: item.targetUri ?? item.uri, line: range.start.line }] : [];
  });
}

/** Shows a place with its line, if the line may be read. */
async function placeLine(workspace: Workspace, { uri, line }: ServerPlace): Promise<string> {
  const path = pathOfUri(workspace.root, uri);
  if (path === undefined)
    return `${cutTo(stripControls(String(uri)), LONGEST_LINE)}:${line + 1} (outside of the workspace)`;
  try {
    const { text } = await readText(workspace, path);
    const shown = text.split("\n")[line]?.trim() ?? "";
    return `${path}:${line + 1}: ${cutTo(stripControls(shown), LONGEST_LINE)}`;
  } catch {
    // A rule forbids reading the file, or the server names a file that is not there.
    return `${path}:${line + 1}`;
  }
}

function hoverText(answer: unknown): string | undefined {
  if (!isJsonRecord(answer)) return undefined;
  const { contents } = answer;
  const parts = (Array.isArray(contents) ? contents : [contents]).map((part) =>
    typeof part === "string" ? part : isJsonRecord(part) && typeof part.value === "string" ? part.value : "",
  );
  const text = stripControls(parts.join("\n\n").slice(0, 2 * LONGEST_HOVER)).trim();
  return text === "" ? undefined : cutTo(text, LONGEST_HOVER);
}
