import type { AnyMessage, SessionUpdate } from "@agentclientprotocol/sdk/unstable";
import { z } from "zod";

/** Update of a session by its agent. */
export interface AgentUpdate {
  readonly session: string;
  /** The update. Undefined if it is malformed, of a newer protocol, or of a kind that Banyan ignores. */
  readonly update: SessionUpdate | undefined;
}

const piece = z.union([
  z.looseObject({ type: z.literal("text"), text: z.string() }),
  z.looseObject({ type: z.enum(["image", "audio"]) }),
  z.looseObject({ type: z.literal("resource_link"), uri: z.string() }),
  z.looseObject({
    type: z.literal("resource"),
    resource: z.looseObject({ uri: z.string(), text: z.string().optional() }),
  }),
]);

const callContent = z.union([
  z.object({ type: z.literal("content"), content: piece }),
  z.object({ type: z.literal("diff"), path: z.string(), oldText: z.string().nullish(), newText: z.string() }),
]);

const fitting = <Item extends z.ZodType>(item: Item) =>
  z
    .array(z.unknown())
    .transform((all) => all.flatMap((one) => item.safeParse(one).data ?? []))
    .nullish()
    .catch(undefined);

const text = z.string().nullish().catch(undefined);

const call = {
  toolCallId: z.string(),
  title: text,
  name: text,
  kind: z
    .enum(["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"])
    .nullish()
    .catch(undefined),
  status: z.enum(["pending", "in_progress", "completed", "failed"]).nullish().catch(undefined),
  content: fitting(callContent),
  locations: fitting(z.object({ path: z.string() })),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
};

const entry = z.object({
  content: z.string(),
  status: z.enum(["pending", "in_progress", "completed"]).catch("pending"),
});

const update = z.discriminatedUnion("sessionUpdate", [
  z.object({ sessionUpdate: z.literal("agent_message_chunk"), content: piece }),
  z.object({ sessionUpdate: z.literal("agent_thought_chunk"), content: piece }),
  z.object({ sessionUpdate: z.literal("tool_call"), ...call }),
  z.object({ sessionUpdate: z.literal("tool_call_update"), ...call }),
  z.object({ sessionUpdate: z.literal("plan"), entries: z.array(entry) }),
  z.object({
    sessionUpdate: z.literal("usage_update"),
    cost: z.object({ amount: z.number(), currency: z.string() }).nullish().catch(undefined),
  }),
]);

const notification = z.object({ sessionId: z.string(), update: z.unknown() });

/**
 * Reads a session update from a message. Returns undefined for every other message. Unlike the parser of the protocol's
 * package, ignores single invalid or unknown details, because an agent may be newer or slightly wrong.
 */
export function readAgentUpdate(message: AnyMessage): AgentUpdate | undefined {
  if (!("method" in message) || message.method !== "session/update") return undefined;
  const notice = notification.safeParse(message.params).data;
  if (!notice) return { session: "", update: undefined };
  const read = update.safeParse(notice.update).data;
  return { session: notice.sessionId, update: read as SessionUpdate | undefined };
}
