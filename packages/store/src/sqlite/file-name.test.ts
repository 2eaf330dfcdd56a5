import { isId } from "@banyan/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { conversationFileName, idIn } from "./file-name.ts";

/** Names that are reserved by a system, mean a folder, or are used next to conversations. */
const ODD = [
  "con",
  "nul",
  "aux",
  "earlier",
  "...",
  "a/b",
  "..\\..",
  "~",
  "A",
  "a",
  "_",
  "é",
  "e\u0301",
  "🌳".repeat(128),
];

const ids = fc.oneof(fc.string({ unit: "binary", minLength: 1, maxLength: 128 }), fc.constantFrom(...ODD)).filter(isId);

test("W80: a conversation's file has a name of its own, on any file system, that says which one it is", () => {
  fc.assert(
    fc.property(ids, ids, (one, other) => {
      const [name, beside] = [conversationFileName(one), conversationFileName(other)];
      expect(name).toMatch(/^[0-9a-z_-]{1,160}$/);
      expect(name).not.toMatch(/^(?:con|nul|aux|prn|com\d|lpt\d|earlier)$/);
      expect(name === beside).toBe(one === other);
      expect(idIn(name)?.id ?? one).toBe(one);
    }),
  );
});

test("W80: ids of lower-case letters and digits are the names of their files, as they always were", () => {
  expect(conversationFileName("01k0000000conformance00001")).toBe("01k0000000conformance00001");
  expect(conversationFileName("550e8400-e29b-41d4-a716-446655440000")).toBe("_550e8400-e29b-41d4-a716-446655440000");
  expect(conversationFileName("User 7")).toBe("__55ser_207");
  expect(conversationFileName("🌳".repeat(40))).toMatch(/^sha256-[0-9a-f]{64}$/);
});

test.each(["short", "_A", "_abcdefghijkl_", "_01k0000000conformance00001", "notes.txt", "sha256-12", "_3"])(
  "W80: the name %s is that of no conversation, unless some id makes it",
  (name) => {
    const id = idIn(name)?.id;
    if (id !== undefined) expect(conversationFileName(id)).toBe(name);
  },
);
