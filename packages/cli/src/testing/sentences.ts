/** Returns a generator of numbers from 0 to 1 that gives the same numbers for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Letters and digits that stand for choices, a few others, and what stands between words. */
const CHARACTERS = [..."yyynnaaAAeetfkkrrddlslsqo111222334", ..."   ,."];
const LETTERS = [..."ynaAekrdlsot"];

/** Returns a text of 2 to 9 characters, made of keys that questions use. At least one character is a letter. */
export function sentence(next: () => number): string {
  const one = (characters: readonly string[]) => characters[Math.floor(next() * characters.length)] ?? "y";
  const rest = Array.from({ length: 1 + Math.floor(next() * 8) }, () => one(CHARACTERS));
  return rest.toSpliced(Math.floor(next() * (rest.length + 1)), 0, one(LETTERS)).join("");
}
