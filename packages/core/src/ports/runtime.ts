// Functions for which a runtime may have its own fast code. All other code uses the standard Web APIs.

/** Runs a function after all data that is available now has been processed. */
export const soon: (run: () => void) => unknown =
  // biome-ignore lint/style/noRestrictedGlobals: used only where it exists.
  typeof setImmediate === "function" ? setImmediate : (run) => setTimeout(run, 0);

/** True if `import()` reads files of this machine, as in Node. A page loads them over a network. */
// biome-ignore lint/correctness/noProcessGlobal: used only where it exists.
export const isOnDisk = globalThis.process?.getBuiltinModule !== undefined;

const encoder = new TextEncoder();

/** Returns the number of bytes of a text in UTF-8. */
export const byteLength: (text: string) => number =
  // biome-ignore lint/style/noRestrictedGlobals: used only where it exists.
  typeof Buffer === "function" ? Buffer.byteLength : (text) => encoder.encode(text).length;

/** Returns the SHA-256 of a text in UTF-8, in hexadecimal. */
export function fullDigest(text: string): string {
  // Loaded on demand: creating an agent must not wait for Node's cryptography.
  // biome-ignore lint/correctness/noProcessGlobal: used only where it exists; an import would fail elsewhere.
  const crypto = globalThis.process?.getBuiltinModule?.("node:crypto");
  return crypto ? crypto.hash("sha256", text) : portableDigest(text);
}

/** Returns 128 bits of the SHA-256 of a text in UTF-8, in hexadecimal. */
export function textDigest(text: string): string {
  return fullDigest(text).slice(0, 32);
}

/**
 * The same as `fullDigest`, in plain JavaScript (FIPS 180-4), because the function of the Web platform is asynchronous.
 */
export function portableDigest(text: string): string {
  const bytes = encoder.encode(text);
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const blocks = new DataView(padded.buffer);
  blocks.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
  const { start, rounds } = constants();
  const hash = Int32Array.from(start);
  const words = new Int32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let index = 0; index < 16; index++) words[index] = blocks.getInt32(block + index * 4);
    for (let index = 16; index < 64; index++) {
      const before = words[index - 15] as number;
      const recent = words[index - 2] as number;
      const first = turned(before, 7) ^ turned(before, 18) ^ (before >>> 3);
      const second = turned(recent, 17) ^ turned(recent, 19) ^ (recent >>> 10);
      words[index] = (words[index - 16] as number) + first + (words[index - 7] as number) + second;
    }
    let [a, b, c, d, e, f, g, h] = hash as unknown as Eight;
    for (let index = 0; index < 64; index++) {
      const choice = (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g));
      const majority = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      const next = (h + choice + (rounds[index] as number) + (words[index] as number)) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + next) | 0;
      d = c;
      c = b;
      b = a;
      a = (next + majority) | 0;
    }
    const mixed: Eight = [a, b, c, d, e, f, g, h];
    for (let index = 0; index < 8; index++) hash[index] = (hash[index] as number) + (mixed[index] as number);
  }
  return Array.from(hash, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

type Eight = [number, number, number, number, number, number, number, number];

function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** Fractions of the square roots and cube roots of the first primes, in 32 bits. */
function constants(): { readonly start: readonly number[]; readonly rounds: readonly number[] } {
  const primes: number[] = [];
  for (let number = 2; primes.length < 64; number++) {
    if (primes.every((prime) => number % prime !== 0)) primes.push(number);
  }
  const fraction = (root: number) => Math.floor((root % 1) * 2 ** 32);
  return {
    start: primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime))),
    rounds: primes.map((prime) => fraction(Math.cbrt(prime))),
  };
}
