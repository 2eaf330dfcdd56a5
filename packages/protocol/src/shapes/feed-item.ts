import type { FeedItem } from "@banyan/core/conversation";
import { z } from "zod";
import { eventSchemas } from "./event.ts";
import { callId, count, id } from "./shapes.ts";

const epoch = count.describe("Number of the process that writes the log. Each later writer has a higher number.");
const seq = z.int().min(1).describe("Number of the event in the log, from 1, without gaps.");

/**
 * Schema of an event of the log.
 * @example const events = z.array(event).parse(JSON.parse(await readFile("log.json", "utf8")));
 */
export const event = z.discriminatedUnion("type", eventSchemas({ seq, epoch }));

const voice = {
  run: id.describe("Run of the agent."),
  agent: z.string().describe("Name of the run's agent."),
  depth: count.describe("0 for the user's agent, 1 for its sub-agents, 2 for theirs."),
};
const begins = count
  .optional()
  .describe(
    "Position in the part at which the text begins, in UTF-16 units. The text replaces the client's copy of the part from this position on.",
  );
const ofCall = { message: id, call: callId };

/**
 * Returns the schemas of all deltas, each with the properties of `head` first.
 * @example const streamed = z.discriminatedUnion("type", deltaSchemas({ conversation: z.string() }));
 */
export function deltaSchemas<const Head extends z.ZodRawShape>(head: Head) {
  const place = { ...head, ...voice };
  return [
    z.object({ ...place, type: z.literal("text.delta"), message: id, part: count, begins, text: z.string() }),
    z.object({ ...place, type: z.literal("reasoning.delta"), message: id, part: count, begins, text: z.string() }),
    z.object({
      ...place,
      type: z.literal("call.input.delta"),
      ...ofCall,
      part: count,
      tool: z.string(),
      text: z.string(),
    }),
    z.object({ ...place, type: z.literal("call.output.delta"), ...ofCall, text: z.string() }),
    z.object({
      ...place,
      type: z.literal("call.draft.delta"),
      ...ofCall,
      draft: count,
      path: z.string(),
      start: count.optional(),
      end: count.optional(),
      text: z.string(),
      problems: z.array(z.string()).readonly().optional(),
    }),
  ] as const;
}

/**
 * Returns the schemas of all notices, each with the properties of `head` first.
 * @example const told = z.discriminatedUnion("type", noticeSchemas({ conversation: z.string() }));
 */
export function noticeSchemas<const Head extends z.ZodRawShape>(head: Head) {
  const leaf = id.nullable().describe("Last message of the compacted branch.");
  return [
    z.object({
      ...head,
      type: z.literal("model.retrying"),
      run: id,
      attempt: z.int().min(1).describe("1 if the first attempt waits for the rate limit of the agent."),
      delay: z.number().describe("Milliseconds."),
      nextAt: z.number().describe("Time of the attempt, in milliseconds since 1970."),
      code: z.string(),
      status: z.int().optional().describe("HTTP status."),
      reason: z.string(),
    }),
    z.object({
      ...head,
      type: z.literal("model.replaced"),
      run: id,
      from: z.string().describe("The failed model, as `provider/model`."),
      to: z.string().describe("The model that continues the turn."),
      code: z.string(),
      reason: z.string(),
    }),
    z.object({
      ...head,
      type: z.literal("model.waiting"),
      run: id,
      message: id,
      time: z
        .number()
        .describe("Milliseconds since the model's last text. Without a text yet: milliseconds since the request."),
      alive: z.boolean().describe("True if the provider has sent anything, such as a ping, since the last notice."),
    }),
    z.object({
      ...head,
      type: z.literal("turn.waiting"),
      command: id.describe("Id of the turn's first message, or of the turn's run if there is no new message."),
      waits: z.boolean().describe("`false` if the wait has ended."),
      reason: z
        .string()
        .describe(
          "A sentence about the tools for which the turn waits. At the end of the wait: a sentence about the tools that are missing.",
        ),
    }),
    z.object({
      ...head,
      type: z.literal("message.left-out"),
      message: id.describe("The unreadable message. Requests to the model leave this message out."),
      reason: z.string(),
    }),
    z.object({
      ...head,
      type: z.literal("request.changed"),
      run: id,
      reason: z
        .string()
        .describe(
          "A sentence about a part of the request that the provider does not accept, and about the replacement of this part.",
        ),
    }),
    z.object({ ...head, type: z.literal("memory.skipped"), run: id, reason: z.string() }),
    z.object({
      ...head,
      type: z.literal("approval.withdrawn"),
      reason: z.string().describe("A sentence that says why the approval mode `sandbox` ended. The mode is now `ask`."),
    }),
    z.object({ ...head, type: z.literal("context.shortening"), run: id, leaf, reason: z.string() }),
    z.object({ ...head, type: z.literal("context.not-shortened"), run: id, leaf, reason: z.string() }),
    z.object({
      ...head,
      type: z.literal("callback.failed"),
      callback: z.string(),
      reason: z.string(),
      isHook: z
        .literal(true)
        .optional()
        .describe("Set if the callback is a hook from the settings. The reason then names the hook."),
    }),
  ] as const;
}

/**
 * Schema of a fragment of streaming text. Its position: after event `seq`, and after `offset` UTF-16 units of text that
 * follow this event.
 * @example delta.safeParse({ type: "text.delta" }).success // false
 */
export const delta = z.discriminatedUnion("type", deltaSchemas({ seq: count, epoch, offset: count }));

/**
 * Schema of a notice. A notice has no position in the feed.
 * @example notice.safeParse({ type: "text.delta" }).success // false
 */
export const notice = z.discriminatedUnion("type", noticeSchemas({}));

/**
 * Schema of every feed item that this version knows.
 * @example knownItem.safeParse({ type: "weather.changed" }).success // false
 */
export const knownItem = z.union([event, delta, notice]);

const known = new Map(
  [event, delta, notice].flatMap((union) =>
    union.options.map((option) => [option.shape.type.value as string, option as z.ZodType] as const),
  ),
);

/**
 * Schema of a feed item. An item of a type that this version does not know matches, too.
 * @example feedItem.safeParse({ type: "weather.changed" }).success // true, because a newer server may send it
 */
export const feedItem = z
  .looseObject({
    type: z
      .string()
      .describe("Type of the feed item. A newer server can send items of types that this version does not know."),
  })
  .superRefine((item, context) => {
    for (const issue of known.get(item.type)?.safeParse(item).error?.issues ?? [])
      context.addIssue({ code: "custom", message: issue.message, path: issue.path as PropertyKey[] });
  })
  .transform((item) => item as unknown as FeedItem)
  .describe("An event, a delta or a notice.");
