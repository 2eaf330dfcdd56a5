import type { Json } from "@banyan/core/conversation";
import { z } from "zod";

// Pieces that several schemas of the protocol are made of.

/** The schema of something that the engine has a type for, known by that type. A test holds the two to each other. */
export function schemaOf<Type>(schema: z.ZodType): z.ZodType<Type> {
  return schema as z.ZodType<Type>;
}

/** A name that `createId()` of `@banyan/core/conversation` makes: of a conversation, a message, a run, a command ... */
export const id = z.string().regex(/^[0-9a-z]{10,40}$/, "10 to 40 lower-case letters and digits");

/** An id that a provider may have made, as a call has. */
export const name = z.string().min(1).max(512);

/** Milliseconds since 1970. */
export const time = z.number().describe("Milliseconds since 1970.");

/** A whole number from 0 on. */
export const count = z.int().min(0);

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
