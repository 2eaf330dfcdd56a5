import type { Json } from "@banyan/core/conversation";
import { ID_PATTERN, ID_RULE } from "@banyan/core/conversation";
import { z } from "zod";

// Building blocks of the schemas.

/** Gives a schema the engine's type. A test compares the two. */
export function engineSchema<Type>(schema: z.ZodType): z.ZodType<Type> {
  return schema as z.ZodType<Type>;
}

/** Milliseconds since 1970. */
export const time = z.number().describe("Milliseconds since 1970.");

/** A whole number from 0 on. */
export const count = z.int().min(0);

/**
 * Id of a conversation, message, run or command, valid for `isId` of `@banyan/core/conversation`. `createId()` makes
 * one.
 */
export const id = z
  .string()
  .regex(ID_PATTERN, `expected ${ID_RULE}`)
  .refine((text) => text.isWellFormed(), `expected ${ID_RULE}, in Unicode whose surrogates come in pairs`)
  .describe("Text of 1 to 128 characters without control characters; not `.` or `..`.");

/** A text of this many characters, counted as code points like in JSON Schema. May be empty if `least` is 0. */
export function textSchema(least: number, most: number): z.ZodType<string, string> {
  const problem = `expected ${least === 0 ? "at most" : `${least} to`} ${most.toLocaleString("en")} characters`;
  const fits = (given: string) => given.length >= least && (given.length <= most || Array.from(given).length <= most);
  return z
    .string()
    .refine(fits, problem)
    .meta({ ...(least > 0 && { minLength: least }), maxLength: most });
}

/** Id of a call, possibly made by a provider. */
export const callId = textSchema(1, 512).describe("Id of a call, which a model's provider may have made.");

/** A text of a user: 1 to `most` characters after trimming. */
export function lineSchema(most: number): z.ZodType<string> {
  return z.string().trim().pipe(textSchema(1, most)).meta({ minLength: 1, maxLength: most, pattern: "\\S" });
}

/** US dollars. */
export const dollars = z.number().min(0).describe("US dollars.");

/** Any JSON value. */
export const json = engineSchema<Json>(z.json());

/** A read-only array. It is not frozen, because the receiver of a message may own it. */
export function listSchema<Item extends z.ZodType>(item: Item): z.ZodType<readonly z.infer<Item>[]> {
  return engineSchema(z.array(item));
}

/** An empty result. */
export const nothing = z.object({});

/** Position of a consumer in a feed, from which the server's `session.feed({ from })` continues. */
export const cursor = z
  .object({
    epoch: count.describe("Number of the writer."),
    seq: count.describe("Number of the last event that the client has."),
    offset: count.describe("UTF-16 units of deltas that the client has since that event."),
  })
  .describe("A place in the feed of a conversation. With seq 0: its beginning.");
