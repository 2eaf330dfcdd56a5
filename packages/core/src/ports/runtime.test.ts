import { hash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { byteLength, fullDigest, portableDigest, textDigest } from "./runtime.ts";

const text = fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.string({ unit: "grapheme" }));
const anyText = fc.oneof(text, fc.constantFrom("", "a\ud800b", "\udc00", "a".repeat(10_001)));

describe("without Node's modules", () => {
  test("L8: the digest of a text is the same", () => {
    fc.assert(fc.property(anyText, (given) => portableDigest(given) === hash("sha256", given)));
    for (let length = 0; length < 200; length++) {
      const given = "é".repeat(length);
      expect(portableDigest(given)).toBe(hash("sha256", given));
    }
  });

  test("L8: digests do not need a process", () => {
    const digests = [fullDigest("leaf"), textDigest("leaf")];
    vi.stubGlobal("process", undefined);
    try {
      expect([fullDigest("leaf"), textDigest("leaf")]).toEqual(digests);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test("L8: a text has the same number of bytes", async () => {
    vi.stubGlobal("Buffer", undefined);
    vi.stubGlobal("setImmediate", undefined);
    vi.resetModules();
    const bare = await import("./runtime.ts");
    vi.unstubAllGlobals();
    expect(bare.byteLength).not.toBe(byteLength);
    fc.assert(fc.property(anyText, (given) => bare.byteLength(given) === byteLength(given)));
    await new Promise<void>((resolve) => bare.soon(resolve));
  });
});
