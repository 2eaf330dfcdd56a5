import fc from "fast-check";
import { expect, test, vi } from "vitest";
import * as ours from "./bytes.ts";

/** The module as a runtime without Node's globals and modules loads it. */
async function withoutNode(): Promise<typeof ours> {
  for (const name of ["Buffer", "process"]) vi.stubGlobal(name, undefined);
  vi.resetModules();
  try {
    const bare = await import("./bytes.ts");
    const openUtf8 = bare.openUtf8();
    return { ...bare, openUtf8: () => openUtf8 };
  } finally {
    vi.unstubAllGlobals();
  }
}

const text = fc.oneof(fc.string({ unit: "binary", maxLength: 40 }), fc.string({ unit: "grapheme" }));
const bytes = fc.uint8Array({ maxLength: 30 });

test("L8: without Node, texts have the same bytes, and bytes in pieces the same text", async () => {
  const bare = await withoutNode();
  const decoder = bare.openUtf8();
  fc.assert(
    fc.property(text, fc.array(bytes), (given, pieces) => {
      expect([...bare.encodeText(given)]).toEqual([...ours.encodeText(given)]);
      const node = ours.openUtf8();
      const written = (to: ours.Utf8Decoder) => pieces.map((piece) => to.write(piece)).join("") + to.end();
      expect(written(decoder)).toBe(written(node));
    }),
  );
  expect(bare.takeMemory(5)).toHaveLength(5);
});

test("L8: joins bytes and finds a part, as Node does", () => {
  const few = fc.array(fc.constantFrom(1, 2, 3), { maxLength: 12 }).map((list) => Uint8Array.from(list));
  fc.assert(
    fc.property(fc.array(few), few, fc.nat(5), (pieces, part, from) => {
      const joined = Buffer.concat(pieces);
      expect([...ours.joinBytes(pieces)]).toEqual([...joined]);
      if (part.length > 0) expect(ours.findBytes(joined, part, from)).toBe(joined.indexOf(part, from));
    }),
  );
});
