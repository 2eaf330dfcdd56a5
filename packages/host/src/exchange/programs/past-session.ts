import { isAbsolute, relative } from "node:path";
import type { FileChange, Finish, Json, Part, TextPart, Usage, UserPart } from "@banyan/core/conversation";
import { fileChange, fileContent } from "@banyan/tools/workspace";

/** A program whose sessions can be imported. See {@link PROGRAMS}. */
export type ForeignProgram = "claude-code" | "codex" | "pi" | "opencode";

/**
 * Display names of these programs.
 * @example PROGRAMS["claude-code"] // "Claude Code"
 */
export const PROGRAMS: Readonly<Record<ForeignProgram, string>> = {
  "claude-code": "Claude Code",
  codex: "Codex",
  pi: "pi",
  opencode: "opencode",
};

/** A session of another program, as far as it could be read. See {@link conversationOf}. */
export interface PastSession {
  readonly program: ForeignProgram;
  /** The version of the program that last wrote the session. */
  readonly version?: string | undefined;
  readonly id: string;
  readonly directory?: string | undefined;
  readonly title?: string | undefined;
  /** Milliseconds since 1970. */
  readonly beganAt: number;
  /** The session from which this one was forked. */
  readonly forkOf?: string | undefined;
  /**
   * The messages in the order in which they were written, parents before children. The last message is the current
   * leaf.
   */
  readonly messages: readonly PastMessage[];
  /** Set if the user reverted the last messages, and no message followed: the key of the first reverted message. */
  readonly takenBack?: string | undefined;
  /** Sentences about content that could not be imported. */
  readonly left: readonly string[];
}

/** The position of a message in its session: its key and its parent's key. */
export interface PastPosition {
  readonly key: string;
  readonly parent: string | null;
  readonly at: number;
  /** A user's label for the message. */
  readonly label?: string | undefined;
}

/** A message of the session's tree. */
export type PastMessage = PastPosition &
  (
    | { readonly role: "user"; readonly author?: "user" | "system"; readonly parts: readonly UserPart[] }
    | { readonly role: "summary"; readonly text: string; readonly covers: string; readonly usage?: Usage | undefined }
    | PastResponse
  );

/** A model's response, with its calls. */
export interface PastResponse {
  readonly role: "assistant";
  /** `provider/model`. */
  readonly model: string;
  readonly parts: readonly (Exclude<Part, { readonly type: "call" }> | PastCall)[];
  readonly finish: Finish;
  readonly usage?: Usage | undefined;
  /** US dollars, if recorded. */
  readonly cost?: number | undefined;
  readonly error?: string | undefined;
}

/** A tool call in a response. */
export interface PastCall {
  readonly type: "call";
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  readonly result?: PastResult | undefined;
  /** The sub-agent that the call launched. */
  readonly agent?: { readonly name: string; readonly messages: readonly PastMessage[] } | undefined;
}

/** The result of a call. */
export interface PastResult {
  readonly status: "completed" | "failed" | "denied" | "not-run";
  readonly output: string;
  readonly at: number;
  /** The file changes. Present if the program kept the content before and after. */
  readonly changes?: readonly FileChange[] | undefined;
}

/** Returns a text as a part; no part for blank text. */
export function textPart(text: string): TextPart[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

/**
 * Returns the change that a call made to a file, if the content before and after is known. `null` stands for no file.
 */
export function pastFileChange(
  { path, directory }: { readonly path: string; readonly directory: string | undefined },
  before: string | null | undefined,
  after: string | null | undefined,
): readonly FileChange[] | undefined {
  if (before === undefined || after === undefined || before === after) return undefined;
  const [old, now] = [before, after].map((text) => (text === null ? undefined : fileContent(Buffer.from(text))));
  // A file outside the session's directory keeps its absolute path.
  const inside = directory !== undefined && isAbsolute(path) ? relative(directory, path) : path;
  return [fileChange(inside === "" || inside.startsWith("..") ? path : inside, old, now)];
}
