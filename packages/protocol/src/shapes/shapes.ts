import type { Json } from "@banyan/core/conversation";
import { ID_PATTERN, ID_RULE } from "@banyan/core/conversation";
import { z } from "zod";

/** Declares that a schema has a type of the engine. A test compares the schema with the type. */
export function engineSchema<Type>(schema: z.ZodType): z.ZodType<Type> {
  return schema as z.ZodType<Type>;
}

export const time = z.number().describe("Milliseconds since 1970.");

/**
 * Schema of a whole number from 0 on.
 * @example count.safeParse(-1).success // false
 */
export const count = z.int().min(0);

/** An id that `isId` of `@banyan/core/conversation` accepts. `createId()` makes such an id. */
export const id = z
  .string()
  .regex(ID_PATTERN, `expected ${ID_RULE}`)
  .refine((text) => text.isWellFormed(), `expected ${ID_RULE}, in Unicode whose surrogates come in pairs`)
  .describe("Text of 1 to 128 characters without control characters; not `.` or `..`.");

/** Schema of a text with `least` to `most` code points, counted as in JSON Schema. */
export function textSchema(least: number, most: number): z.ZodType<string, string> {
  // Only when needed: formatting the first number costs 10 ms.
  const error = () => `expected ${least === 0 ? "at most" : `${least} to`} ${most.toLocaleString("en")} characters`;
  const fits = (given: string) => given.length >= least && (given.length <= most || Array.from(given).length <= most);
  return z
    .string()
    .refine(fits, { error })
    .meta({ ...(least > 0 && { minLength: least }), maxLength: most });
}

export const callId = textSchema(1, 512).describe("Id of a call. Some ids come from the model's provider.");

/** A text of a user: 1 to `most` characters after trimming. */
export function lineSchema(most: number): z.ZodType<string> {
  return z.string().trim().pipe(textSchema(1, most)).meta({ minLength: 1, maxLength: most, pattern: "\\S" });
}

/**
 * Schema of an amount in US dollars.
 * @example dollars.parse(0.12) // 0.12
 */
export const dollars = z.number().min(0).describe("US dollars.");

export const json = engineSchema<Json>(z.json());

/**
 * Schema of a read-only array. The array is not frozen, because the receiver of a message may change it.
 * @example listSchema(count).parse([1, 2]) // [1, 2]
 */
export function listSchema<Item extends z.ZodType>(item: Item): z.ZodType<readonly z.infer<Item>[]> {
  return engineSchema(z.array(item));
}

export const nothing = z.object({});

export const cursor = z
  .object({
    epoch: count.describe("Number of the process that writes the log. Each later writer has a higher number."),
    seq: count.describe("Number of the last event that the client received."),
    offset: count.describe("Length of the deltas that the client received after event `seq`, in UTF-16 units."),
  })
  .describe("A position in the feed of a conversation. With seq 0: the beginning.");
