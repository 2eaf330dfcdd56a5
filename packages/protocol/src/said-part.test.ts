import { isDeepStrictEqual } from "node:util";
import { DirectiveError, readUserContent, type UserContent } from "@banyan/core/conversation";
import fc from "fast-check";
import { expect, test } from "vitest";
import { saidPart } from "./shapes/parts.ts";

const base64 = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("base64"));
const address = fc.webUrl({ validSchemes: ["http", "https"], withQueryParameters: true });
const name = fc.option(fc.string({ maxLength: 30 }), { nil: undefined });
const media = fc.constantFrom("image/png", "text/plain; charset=utf-8", "application/vnd.a+json", "audio/x-b");
const text = fc.record({ type: fc.constant("text"), text: fc.string({ unit: "binary" }) });
const bytes = fc.record({ type: fc.constant("file"), mediaType: media, name, data: base64 });
const place = fc.record({
  type: fc.constant("file"),
  mediaType: fc.oneof(media, fc.constant("image/*")),
  name,
  url: address,
});
const valid = fc.oneof(text, bytes, place);

/** Changes that make any part of a user's message invalid. */
const DAMAGES: readonly ((part: Record<string, unknown>, junk: unknown) => unknown)[] = [
  (_, junk) => (typeof junk === "object" ? 7 : junk),
  (part) => [part],
  (part, junk) => ({ ...part, type: `${junk}` }),
  ({ type: _, ...part }) => part,
  (part) => ({ ...part, text: 7, mediaType: 7 }),
  (part) => ({ ...part, more: "of it" }),
  (part) => ({ ...part, text: undefined, data: undefined, url: undefined }),
  ({ data: _, ...part }) => ({ ...part, text: null, url: "file:///etc/passwd" }),
  ({ data: _, ...part }) => ({ ...part, text: {}, url: "nowhere" }),
  ({ url: _, ...part }) => ({ ...part, text: [], data: "A===" }),
  ({ url: _, ...part }) => ({ ...part, text: [], data: "AAA=AAAA" }),
  ({ url: _, ...part }) => ({ ...part, text: [], data: "AA\nA" }),
  (part) => ({ ...part, text: 1, data: "AAAA", url: "https://example.org" }),
  (part) => ({ ...part, text: 1, mediaType: "png" }),
  (part) => ({ ...part, text: 1, mediaType: "" }),
  (part) => ({ ...part, text: 1, name: "a".repeat(1_001) }),
  (part) => ({ ...part, text: 1, name: 7 }),
];

/** True if the library accepts a part unchanged. Other shapes that it converts are not part of the protocol. */
function isTakenAsItIs(part: unknown): boolean {
  try {
    const [read] = readUserContent([part, { type: "text", text: "." }] as UserContent) ?? [];
    return isDeepStrictEqual(read, JSON.parse(JSON.stringify(part)));
  } catch (error) {
    expect(error).toBeInstanceOf(DirectiveError);
    return false;
  }
}

const numRuns = process.env.BANYAN_LONG === "1" ? 20_000 : 300;

test("F75: the server takes what the library takes: every valid part", () => {
  fc.assert(
    fc.property(valid, (part) => {
      expect([isTakenAsItIs(part), saidPart.safeParse(part).success]).toEqual([true, true]);
    }),
    { numRuns },
  );
});

test("F75: the server refuses what the library refuses: every damaged part", () => {
  fc.assert(
    fc.property(valid, fc.constantFrom(...DAMAGES), fc.jsonValue({ maxDepth: 1 }), (part, damage, junk) => {
      const damaged = damage(part as Record<string, unknown>, junk);
      expect([isTakenAsItIs(damaged), saidPart.safeParse(damaged).success]).toEqual([false, false]);
    }),
    { numRuns },
  );
});

test("F75: library and server agree on any fields", () => {
  const value = fc.oneof(fc.jsonValue({ maxDepth: 1 }), base64, address, media, fc.constantFrom("text", "file"));
  const any = fc.record(
    {
      type: fc.constantFrom("text", "file"),
      text: value,
      mediaType: value,
      name: value,
      data: value,
      url: value,
      provider: value,
    },
    { requiredKeys: ["type"] },
  );
  fc.assert(
    fc.property(any, (part) => {
      expect(isTakenAsItIs(part)).toBe(saidPart.safeParse(part).success);
    }),
    { numRuns },
  );
});
