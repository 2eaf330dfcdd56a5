import { cleanUsage, type Finish, type Usage } from "@banyan/core/conversation";
import { z } from "zod";
import type { PastResult } from "./past-session.ts";

// The lines of a Claude Code session.

const block = z.looseObject({ type: z.string() });
/** The content of a message in a Claude Code session. */
export const content = z.union([z.string(), z.array(block)]);
const usage = z.looseObject({
  input_tokens: z.number().optional(),
  cache_creation_input_tokens: z.number().nullish(),
  cache_read_input_tokens: z.number().nullish(),
  output_tokens: z.number().optional(),
});
/** A line of a Claude Code session that belongs to the message tree. */
export const node = z.looseObject({
  type: z.string(),
  uuid: z.string(),
  parentUuid: z.string().nullish(),
  logicalParentUuid: z.string().nullish(),
  timestamp: z.string().optional(),
  isSidechain: z.boolean().optional(),
  isMeta: z.boolean().optional(),
  isCompactSummary: z.boolean().optional(),
  isApiErrorMessage: z.boolean().optional(),
  agentId: z.string().optional(),
  cwd: z.string().optional(),
  version: z.string().optional(),
  subtype: z.string().optional(),
  compactMetadata: z
    .looseObject({ preservedSegment: z.looseObject({ headUuid: z.string() }).optional().catch(undefined) })
    .optional(),
  forkedFrom: z.looseObject({ sessionId: z.string() }).optional(),
  toolUseResult: z.unknown().optional(),
  attachment: z
    .looseObject({
      type: z.string(),
      prompt: content.optional(),
      filename: z.string().optional(),
      content: z
        .looseObject({ file: z.looseObject({ content: z.string() }).optional() })
        .optional()
        .catch(undefined),
    })
    .optional(),
  message: z
    .looseObject({
      id: z.string().optional(),
      content,
      model: z.string().optional(),
      stop_reason: z.string().nullish(),
      usage: usage.optional(),
    })
    .optional(),
});
/** A line of the message tree. */
export type ClaudeLine = z.infer<typeof node>;
/** A block in a message's content. */
export type ClaudeBlock = z.infer<typeof block>;

/** Finish reasons by Anthropic's stop reason. */
export const FINISHES: Readonly<Record<string, Finish>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "calls",
  max_tokens: "length",
  refusal: "filtered",
  pause_turn: "paused",
};

/** Joins the texts of a message. */
export function claudeText(said: z.infer<typeof content>): string {
  if (typeof said === "string") return said;
  return said.flatMap(({ type, text }) => (type === "text" ? [String(text ?? "")] : [])).join("\n\n");
}

/** Returns the status of a call with an error, by a field or sentence that only Claude Code itself writes. */
export function claudeCallStatus(output: string, toolUseResult: unknown): Exclude<PastResult["status"], "completed"> {
  if (typeof toolUseResult === "string" && /user (rejected|doesn't want)/i.test(toolUseResult)) return "denied";
  return /^\s*<tool_use_error>|^Permission to use \S+ /.test(output) ? "not-run" : "failed";
}

/** Converts the token counts of a response. */
export function claudeUsage(read: z.infer<typeof usage> | undefined): Usage | undefined {
  if (!read) return undefined;
  const { input_tokens: fresh = 0, output_tokens: output } = read;
  const [cached, cacheWrite] = [read.cache_read_input_tokens ?? 0, read.cache_creation_input_tokens ?? 0];
  return cleanUsage({ input: fresh + cached + cacheWrite, cached, cacheWrite, output });
}
