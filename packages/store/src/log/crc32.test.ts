import { crc32 as zlib } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { crc32, portableCrc32 } from "./crc32.ts";

test("L8: the checksum in plain JavaScript is that of zlib, of any text in any pieces", () => {
  const text = fc.string({ unit: "binary" });
  fc.assert(
    fc.property(text, text, (first, second) => {
      expect(portableCrc32(first)).toBe(zlib(first));
      expect(portableCrc32(second, portableCrc32(first))).toBe(zlib(second, zlib(first)));
    }),
  );
  expect(crc32).toBe(zlib);
});
