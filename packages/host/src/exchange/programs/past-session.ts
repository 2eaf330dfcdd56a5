import { isAbsolute, relative } from "node:path";
import type { FileChange, Finish, Json, Part, TextPart, Usage, UserPart } from "@banyan/core/conversation";
import { fileChange, fileContent } from "@banyan/tools/workspace";

/** A program whose sessions can be imported. */
export type ForeignProgram = "claude-code" | "codex" | "pi" | "opencode";

/** Display names of the programs. */
export const PROGRAMS: Readonly<Record<ForeignProgram, string>> = {
  "claude-code": "Claude Code",
  codex: "Codex",
  pi: "pi",
  opencode: "opencode",
};

/** A session of another program, as far as it could be read. */
export interface PastSession {
  readonly program: ForeignProgram;
  /** The version of the program that last wrote the session. */
  readonly version?: string | undefined;
  /** The id of the session in its program. */
  readonly id: string;
  /** The working directory of the session. */
  readonly directory?: string | undefined;
  readonly title?: string | undefined;
  /** Milliseconds since 1970. */
  readonly beganAt: number;
  /** The id of the session from which this session was forked. Both have the same beginning. */
  readonly forkOf?: string | undefined;
  /** In the order of writing; parents come before children. The last message is the current leaf of the session. */
  readonly messages: readonly PastMessage[];
  /** The key of a message that the user reverted with everything after it, if no message followed since. */
  readonly takenBack?: string | undefined;
  /** Sentences about content that could not be imported. */
  readonly left: readonly string[];
}

/** The place of a message: `key` identifies the message in its session, and `parent` is the key of its parent. */
export interface PastPlace {
  readonly key: string;
  readonly parent: string | null;
  readonly at: number;
  /** A label that a user gave the message. */
  readonly label?: string | undefined;
}

/** A node of the tree. */
export type PastMessage = PastPlace &
  (
    | { readonly role: "user"; readonly author?: "user" | "system"; readonly parts: readonly UserPart[] }
    | { readonly role: "summary"; readonly text: string; readonly covers: string; readonly usage?: Usage | undefined }
    | PastResponse
  );

/** The response of a model, with its calls. */
export interface PastResponse {
  readonly role: "assistant";
  /** `provider/model`. */
  readonly model: string;
  readonly parts: readonly (Exclude<Part, { readonly type: "call" }> | PastCall)[];
  readonly finish: Finish;
  readonly usage?: Usage | undefined;
  /** US dollars, if the program recorded the cost. */
  readonly cost?: number | undefined;
  readonly error?: string | undefined;
}

/** A tool call among the parts of a response. */
export interface PastCall {
  readonly type: "call";
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  /** Absent if the call has no result. */
  readonly result?: PastResult | undefined;
  /** The sub-agent that the call launched: its name and messages. */
  readonly agent?: { readonly name: string; readonly messages: readonly PastMessage[] } | undefined;
}

/** How a call ended. */
export interface PastResult {
  readonly status: "completed" | "failed" | "denied" | "not-run";
  readonly output: string;
  readonly at: number;
  /** The file changes of the call, if the program kept the content before and after. */
  readonly changes?: readonly FileChange[] | undefined;
}

/** A text as a part; empty for blank text. */
export function textPart(text: string): TextPart[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

/** The change of a file by a call, if the content before and after is known; `null` means no file. */
export function pastFileChange(
  { path, directory }: { readonly path: string; readonly directory: string | undefined },
  before: string | null | undefined,
  after: string | null | undefined,
): readonly FileChange[] | undefined {
  if (before === undefined || after === undefined || before === after) return undefined;
  const [old, now] = [before, after].map((text) => (text === null ? undefined : fileContent(Buffer.from(text))));
  // Relative to the session's directory. A file outside keeps its absolute path.
  const inside = directory !== undefined && isAbsolute(path) ? relative(directory, path) : path;
  return [fileChange(inside === "" || inside.startsWith("..") ? path : inside, old, now)];
}
