import { resolve } from "node:path";
import type { ToolCall, ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk/unstable";
import { type DisplayedCallStatus, readPatch, shownStatus } from "@banyan/client/words";
import type { BroughtFile, Call, FileChange, Preview } from "@banyan/core/conversation";
import { toolNameOf } from "@banyan/core/conversation";
import { counted, cutToEnd, shownPlan } from "@banyan/core/shown";

/** Maximum number of UTF-16 units of a running call's output that an editor shows: the end. */
const PROGRESS = 8 * 1024;

/**
 * Converts a call to the form of ACP: its title, its file changes and its result. `saying`: a text to show while there
 * is no result. `preview`: the changes that the call would make.
 */
export function toolCallOf(
  call: Call,
  workspace: string,
  { saying, preview }: { readonly saying?: string | undefined; readonly preview?: Preview | undefined } = {},
): ToolCall {
  // A branch with a worktree has its files outside the session's folder.
  const folder = call.about?.folder ?? workspace;
  const changes = call.changes ?? preview?.changes ?? [];
  const input = call.executedInput ?? call.input;
  const confinement = preview?.confinement === undefined ? [] : [preview.confinement];
  const content = [
    ...(call.about?.plan
      ? [
          textContent(
            shownPlan(call.about.plan)
              .map(({ mark, text }) => `- ${mark} ${text}`)
              .join("\n"),
          ),
        ]
      : []),
    ...(call.changes ? [] : [...(preview?.notes ?? []), ...confinement]).map(textContent),
    ...changes.flatMap((change) => diffsOf(change, folder)),
    ...saidContent(call, saying),
    ...(call.changedFiles ? [textContent(`${counted(call.changedFiles, "file")} changed`)] : []),
  ];
  const locations = locationsOf(call, changes, folder);
  return {
    toolCallId: call.id,
    title: callTitle(call),
    name: toolNameOf(call),
    kind: toolKind(call),
    status: STATUSES[shownStatus(call)],
    ...(content.length > 0 && { content }),
    ...(locations.length > 0 && { locations }),
    ...(input === undefined ? {} : { rawInput: input }),
  };
}

/** Returns the fields of a call that change after its request, in the form of ACP. */
export function progressOf(...call: Parameters<typeof toolCallOf>): Omit<ToolCall, "title"> {
  const { title: _title, name: _name, kind: _kind, rawInput: _input, ...progress } = toolCallOf(...call);
  return progress;
}

const STATUSES: Readonly<Record<DisplayedCallStatus, NonNullable<ToolCall["status"]>>> = {
  pending: "pending",
  "approval-requested": "pending",
  executing: "in_progress",
  completed: "completed",
  failed: "failed",
  denied: "failed",
  cancelled: "failed",
  "not-run": "failed",
};

function callTitle(call: Call): string {
  const { about } = call;
  const tool = toolNameOf(call);
  const what = about?.title ?? about?.command ?? about?.url ?? about?.paths?.map(({ path }) => path).join(", ");
  // A title has one line; the arguments have the whole text.
  const [line = ""] = (what ?? "").split("\n");
  return line === "" ? tool : `${tool}: ${line.length > 200 ? `${line.slice(0, 200)}…` : line}`;
}

/** The kind of a call, from its tool's `about`, never from the tool's name. */
function toolKind({ about = {} }: Call): ToolKind {
  const { command, url, change, paths = [], looksAt, plan, handsIn } = about;
  if (plan) return handsIn ? "switch_mode" : "think";
  if (command !== undefined) return "execute";
  if (url !== undefined) return "fetch";
  if (change || paths.some(({ access }) => access === "write")) return "edit";
  if (paths.length > 0) return "read";
  return looksAt ? "search" : "other";
}

function locationsOf({ about, drafts = [] }: Call, changes: readonly FileChange[], folder: string) {
  const lines = new Map<string, number | undefined>();
  for (const { path } of about?.paths ?? []) lines.set(resolve(folder, path), undefined);
  for (const { path, start } of drafts) lines.set(resolve(folder, path), start);
  for (const { path, diff } of changes) {
    const first = readPatch(diff).find(({ kind }) => kind === "added" || kind === "removed");
    lines.set(resolve(folder, path), first?.after ?? first?.before);
  }
  return [...lines].map(([path, line]): ToolCallLocation => (line === undefined ? { path } : { path, line }));
}

/** Converts a change to the changed parts of a file, each with the lines around it. A new file has no old text. */
function diffsOf({ path, kind, diff, added, removed }: FileChange, folder: string): ToolCallContent[] {
  const places: { before: string[]; after: string[] }[] = [];
  let shown = 0;
  for (const line of readPatch(diff)) {
    if (line.kind === "place") {
      places.push({ before: [], after: [] });
      continue;
    }
    const place = places.at(-1);
    if (line.kind !== "added") place?.before.push(line.text);
    if (line.kind !== "removed") place?.after.push(line.text);
    if (line.kind !== "same") shown++;
  }
  const diffs = places
    .filter(({ before, after }) => before.length + after.length > 0)
    .map(({ before, after }): ToolCallContent => {
      const oldText = kind === "created" ? null : linesText(before);
      return { type: "diff", path: resolve(folder, path), oldText, newText: linesText(after) };
    });
  if (shown === added + removed) return diffs;
  return [...diffs, textContent(`The change to ${path} is too long to show completely, or is not text.`)];
}

function linesText(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function saidContent({ output, progress, files = [] }: Call, saying: string | undefined): ToolCallContent[] {
  const said = output ?? cutToEnd(saying || progress, PROGRESS);
  return [...(said === "" ? [] : [textContent(said)]), ...files.flatMap(pictureContent)];
}

function pictureContent({ mediaType, data }: BroughtFile): ToolCallContent[] {
  if (data === undefined || !mediaType.startsWith("image/")) return [];
  return [{ type: "content", content: { type: "image", mimeType: mediaType, data } }];
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}
