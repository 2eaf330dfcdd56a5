import type { Json } from "@banyan/core/conversation";
import { ID_PATTERN, ID_RULE } from "@banyan/core/conversation";
import { z } from "zod";

// Pieces that several schemas are made of.

/** The schema of something that the engine has a type for, known by that type. A test holds the two to each other. */
export function schemaOf<Type>(schema: z.ZodType): z.ZodType<Type> {
  return schema as z.ZodType<Type>;
}

/** Milliseconds since 1970. */
export const time = z.number().describe("Milliseconds since 1970.");

/** A whole number from 0 on. */
export const count = z.int().min(0);

/**
 * A name of a conversation, a message, a run, a command ...: what `isId` of `@banyan/core/conversation` takes. `createId()`
 * makes one.
 */
export const id = z
  .string()
  .regex(ID_PATTERN, `expected ${ID_RULE}`)
  .refine((text) => text.isWellFormed(), `expected ${ID_RULE}, in Unicode whose surrogates come in pairs`)
  .describe("Text of 1 to 128 characters without control characters; not `.` or `..`.");

/** A text of so many characters: code points, as JSON Schema counts. With `most` alone, it may be empty. */
export function text(least: number, most: number): z.ZodType<string, string> {
  const problem = `expected ${least === 0 ? "at most" : `${least} to`} ${most.toLocaleString("en")} characters`;
  const fits = (given: string) => given.length >= least && (given.length <= most || Array.from(given).length <= most);
  return z
    .string()
    .refine(fits, problem)
    .meta({ ...(least > 0 && { minLength: least }), maxLength: most });
}

/** The id of a call, which a provider may have made. */
export const callId = text(1, 512).describe("An id that a model's provider may have made.");

/** What a person names or asks something with: what is not white space at its ends, 1 to `most` characters of it. */
export function line(most: number): z.ZodType<string> {
  return z.string().trim().pipe(text(1, most)).meta({ minLength: 1, maxLength: most, pattern: "\\S" });
}

/** US dollars. */
export const dollars = z.number().min(0);

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
    seq: count.describe("Number of the last seen event."),
    offset: count.describe("UTF-16 units of deltas seen since that event."),
  })
  .describe("A place in the feed of a conversation. With seq 0: its beginning.");
