import type { Json } from "@banyan/core/conversation";
import { text } from "@banyan/host/event-schema";
import { z } from "zod";

export { callId, id, text } from "@banyan/host/event-schema";

// Pieces that several schemas of the protocol are made of.

/** The schema of something that the engine has a type for, known by that type. A test holds the two to each other. */
export function schemaOf<Type>(schema: z.ZodType): z.ZodType<Type> {
  return schema as z.ZodType<Type>;
}

/** Milliseconds since 1970. */
export const time = z.number().describe("Milliseconds since 1970.");

/** A whole number from 0 on. */
export const count = z.int().min(0);

/** What a person names or asks something with: what is not white space at its ends, 1 to `most` characters of it. */
export function line(most: number): z.ZodType<string> {
  return z.string().trim().pipe(text(1, most)).meta({ minLength: 1, maxLength: most, pattern: "\\S" });
}

/** Anything that JSON can hold. */
export const json = schemaOf<Json>(z.json());

/** An array that nobody is to change; it is not frozen, since whoever takes a message may own it. */
export function list<Item extends z.ZodType>(item: Item): z.ZodType<readonly z.infer<Item>[]> {
  return schemaOf(z.array(item));
}

/** Nothing to tell. */
export const nothing = z.object({});

/** Where a consumer stands in a feed: `session.feed({ from })` of the server goes on behind it. */
export const cursor = z
  .object({
    epoch: count.describe("Counts the writers that the conversation has had."),
    seq: count.describe("Of the last event that was seen."),
    offset: count.describe("UTF-16 units of deltas seen since that event."),
  })
  .describe("A place in the feed of a conversation. With seq 0: its beginning.");
