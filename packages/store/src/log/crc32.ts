const encoder = new TextEncoder();

let table: Int32Array | undefined;

/** Returns the CRC-32 of a text in UTF-8, as `crc32` of `node:zlib`. `before` is the CRC-32 of the text before it. */
export function portableCrc32(text: string, before = 0): number {
  table ??= Int32Array.from({ length: 256 }, (_, byte) => {
    let rest = byte;
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
    return rest;
  });
  let crc = ~before;
  for (const byte of encoder.encode(text)) crc = (table[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** The same as `portableCrc32`, but with the code of Node where it exists, which is several times faster. */
export const crc32: (text: string, before?: number) => number =
  // biome-ignore lint/correctness/noProcessGlobal: used only where it exists; an import would fail elsewhere.
  globalThis.process?.getBuiltinModule?.("node:zlib")?.crc32 ?? portableCrc32;
