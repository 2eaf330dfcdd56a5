// Bytes of requests and answers. Uses the functions of Node where they exist, because they are faster.

// biome-ignore-start lint/style/noRestrictedGlobals: used only where it exists.
const hasBuffer = typeof Buffer === "function";

const encoder = new TextEncoder();

/** Returns a text in UTF-8. */
export const encodeText: (text: string) => Uint8Array = hasBuffer
  ? (text) => Buffer.from(text)
  : (text) => encoder.encode(text);

/** Returns memory whose content is undefined. */
export const takeMemory: (length: number) => Uint8Array<ArrayBuffer> = hasBuffer
  ? Buffer.allocUnsafeSlow
  : (length) => new Uint8Array(length);

export const joinBytes: (pieces: readonly Uint8Array[]) => Uint8Array = hasBuffer ? Buffer.concat : joinArrays;
// biome-ignore-end lint/style/noRestrictedGlobals: used only where it exists.

export const NOTHING: Uint8Array = new Uint8Array();

function joinArrays(pieces: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const piece of pieces) {
    joined.set(piece, end);
    end += piece.length;
  }
  return joined;
}

/** Returns the first index from `from` on at which `bytes` contains `part`, or -1. */
export function findBytes(bytes: Uint8Array, part: Uint8Array, from = 0): number {
  const [first = 0] = part;
  for (let at = bytes.indexOf(first, from); at !== -1; at = bytes.indexOf(first, at + 1)) {
    if (part.every((byte, index) => bytes[at + index] === byte)) return at;
  }
  return -1;
}

/** Decodes UTF-8 whose pieces may be cut anywhere. */
export interface Utf8Decoder {
  write(bytes: Uint8Array): string;
  end(): string;
}

// biome-ignore lint/correctness/noProcessGlobal: used only where it exists; an import would fail elsewhere.
const node = globalThis.process?.getBuiltinModule?.("node:string_decoder");

export function openUtf8(): Utf8Decoder {
  if (node) return new node.StringDecoder("utf8");
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
}
