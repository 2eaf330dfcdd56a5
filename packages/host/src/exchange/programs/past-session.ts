import { isAbsolute, relative } from "node:path";
import type { FileChange, Finish, Json, Part, TextPart, Usage, UserPart } from "@banyan/core/conversation";
import { contentOf, fileChange } from "@banyan/tools/workspace";

/** A program whose sessions can be brought in. */
export type Program = "claude-code" | "codex" | "pi" | "opencode";

/** What people call the programs. */
export const PROGRAMS: Readonly<Record<Program, string>> = {
  "claude-code": "Claude Code",
  codex: "Codex",
  pi: "pi",
  opencode: "opencode",
};

/** A session of another program, as far as it could be read. */
export interface PastSession {
  readonly program: Program;
  /** The version of the program that wrote it last. */
  readonly version?: string | undefined;
  /** What the program calls it. */
  readonly id: string;
  /** Where it was worked. */
  readonly directory?: string | undefined;
  readonly title?: string | undefined;
  /** Milliseconds since 1970. */
  readonly beganAt: number;
  /** The session from which it was forked, as the program calls it; its beginning is the same. */
  readonly forkOf?: string | undefined;
  /** In the order in which they were written, each one behind its parent. The last one is where the session stands. */
  readonly messages: readonly PastMessage[];
  /** The key of a message that was taken back with all behind it, when nothing was said since. */
  readonly takenBack?: string | undefined;
  /** What could not be taken, in words. */
  readonly left: readonly string[];
}

/** Where a message stands: `key` is its name among the messages of the session, and `parent` that of another. */
export interface PastPlace {
  readonly key: string;
  readonly parent: string | null;
  readonly at: number;
  /** A name that a person gave it. */
  readonly label?: string | undefined;
}

/** A node of the tree. */
export type PastMessage = PastPlace &
  (
    | { readonly role: "user"; readonly author?: "user" | "system"; readonly parts: readonly UserPart[] }
    | { readonly role: "summary"; readonly text: string; readonly covers: string; readonly usage?: Usage | undefined }
    | PastResponse
  );

/** What a model said, and what it called. */
export interface PastResponse {
  readonly role: "assistant";
  /** `provider/model`. */
  readonly model: string;
  readonly parts: readonly (Exclude<Part, { readonly type: "call" }> | PastCall)[];
  readonly finish: Finish;
  readonly usage?: Usage | undefined;
  /** US dollars, where the program says what it cost. */
  readonly cost?: number | undefined;
  readonly error?: string | undefined;
}

/** A call of a tool, where it stands among the parts of a response. */
export interface PastCall {
  readonly type: "call";
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  /** Absent when it never had one. */
  readonly result?: PastResult | undefined;
  /** What a sub-agent did that it began, and what that one is called. */
  readonly agent?: { readonly name: string; readonly messages: readonly PastMessage[] } | undefined;
}

/** How a call ended. */
export interface PastResult {
  readonly status: "completed" | "failed" | "denied" | "not-run";
  readonly output: string;
  readonly at: number;
  /** What it did to files, where the program kept what was there before and after. */
  readonly changes?: readonly FileChange[] | undefined;
}

/** A text as a part; nothing when it says nothing. */
export function textPart(text: string): TextPart[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

/** What a call made of a file, when both what was there and what is there are known; `null` stands for no file. */
export function changeOf(
  { path, directory }: { readonly path: string; readonly directory: string | undefined },
  before: string | null | undefined,
  after: string | null | undefined,
): readonly FileChange[] | undefined {
  if (before === undefined || after === undefined || before === after) return undefined;
  const [old, now] = [before, after].map((text) => (text === null ? undefined : contentOf(Buffer.from(text))));
  // Relative to where it was worked; what lay outside keeps its whole path.
  const inside = directory !== undefined && isAbsolute(path) ? relative(directory, path) : path;
  return [fileChange(inside === "" || inside.startsWith("..") ? path : inside, old, now)];
}
