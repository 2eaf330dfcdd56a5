import { cleanUsage, type Json, type Usage } from "@banyan/core/conversation";
import { z } from "zod";
import type { PastResult } from "./past-session.ts";

// The lines of a Codex session.

const block = z.looseObject({ type: z.string(), text: z.string().optional(), image_url: z.string().optional() });
const output = z.union([z.string(), z.array(block)]);
/** The token counts of a response. */
export const tokens = z.looseObject({
  input_tokens: z.number().optional(),
  cached_input_tokens: z.number().optional(),
  cache_write_input_tokens: z.number().optional(),
  output_tokens: z.number().optional(),
  reasoning_output_tokens: z.number().optional(),
});
/** The first line of a Codex session's file. */
export const head = z.looseObject({
  id: z.string(),
  cwd: z.string().optional(),
  cli_version: z.string().optional(),
  model_provider: z.string().nullish(),
  forked_from_id: z.string().nullish(),
  history_base: z.looseObject({ thread_id: z.string(), end_byte_offset: z.number() }).nullish(),
});
const changes = z.record(z.string(), z.looseObject({ type: z.string(), content: z.string().optional() }));
/** The payload of a line in a Codex session. */
export const payload = z.looseObject({
  type: z.string(),
  role: z.string().optional(),
  content: z.union([z.string(), z.array(block)]).nullish(),
  summary: z.array(block).optional(),
  name: z.string().optional(),
  arguments: z.unknown().optional(),
  input: z.string().optional(),
  action: z.unknown().optional(),
  call_id: z.string().nullish(),
  id: z.string().nullish(),
  output: z.union([output, z.looseObject({ content: output })]).optional(),
  message: z.string().nullish(),
  num_turns: z.number().optional(),
  info: z.looseObject({ last_token_usage: tokens.optional() }).nullish(),
  success: z.boolean().optional(),
  changes: changes.optional(),
  usage: tokens.optional(),
  error: z.looseObject({ message: z.string() }).nullish(),
  internal_chat_message_metadata_passthrough: z
    .looseObject({ content_item_kinds: z.array(z.string()).optional() })
    .nullish(),
  item: z
    .looseObject({
      type: z.string(),
      id: z.string(),
      status: z.string().optional(),
      changes: changes.optional(),
      kind: z.string().optional(),
      agent_thread_id: z.string().optional(),
    })
    .optional(),
});
/** The payload of a line. */
export type Payload = z.infer<typeof payload>;

/** Returns a call's status by its event, or by the beginning of its output. */
export function codexCallStatus(status: string | undefined, output: string): PastResult["status"] {
  if (status === "declined" || /^(exec_command |apply_patch )?(rejected by user|aborted by user)/i.test(output))
    return "denied";
  if (/^(unsupported call|failed to parse function arguments)\b/i.test(output)) return "not-run";
  if (status !== undefined) return status === "failed" ? "failed" : "completed";
  return /(^|\n)(Exit code: |Process exited with code )(?!0\b)\d|^(failed|Error)/i.test(output)
    ? "failed"
    : "completed";
}

/** Matches messages about the environment. Codex wrote them in the user's name. */
export const SURROUNDINGS = /^\s*(<[a-z_]+>|# AGENTS\.md instructions)/;

/** Parses JSON; returns an object with the text if it is not JSON. */
export function parseCodexJson(text: unknown): Json {
  try {
    return typeof text === "string" ? JSON.parse(text) : ((text ?? {}) as Json);
  } catch {
    return { input: String(text) };
  }
}

/** Joins the texts of blocks. */
export function codexText(said: Payload["content"] | Payload["summary"]): string {
  if (typeof said === "string") return said;
  return (said ?? []).flatMap(({ text }) => text ?? []).join("\n\n");
}

/** Returns a call's output as text. Calls `notText` if parts are not text. */
export function codexOutput(output: Payload["output"], notText: () => void): string {
  const content = typeof output === "object" && !Array.isArray(output) ? output.content : output;
  if (typeof content === "object" && content.some(({ text }) => text === undefined)) notText();
  const text = codexText(content);
  // An older form of output.
  const older = z.object({ output: z.string() }).safeParse(parseCodexJson(text)).data;
  return older?.output ?? text;
}

/** Converts the token counts of a response. */
export function codexUsage(read: z.infer<typeof tokens> | undefined): Usage | undefined {
  if (!read) return undefined;
  const { input_tokens: input, cached_input_tokens: cached, cache_write_input_tokens: cacheWrite } = read;
  const { output_tokens: output, reasoning_output_tokens: reasoning } = read;
  return cleanUsage({ input, cached, cacheWrite, output, reasoning });
}
