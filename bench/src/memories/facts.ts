/** The most frequent words of all texts. */
const FUNCTION_WORDS = "the of is in a to and for on with it as that by at from be this or an".split(" ");
const VOCABULARY = 50_000;
const WORDS_OF_A_FACT = 20;

/** Yields facts with natural word frequencies: the second word is half as frequent as the first, and so on (Zipf). */
export function* factsOf(count: number): Generator<string> {
  const random = randomFrom(1);
  for (let index = 0; index < count; index++) {
    const words = Array.from({ length: WORDS_OF_A_FACT }, () => wordOf(rankFrom(random)));
    yield `${words.join(" ")} (${index}).`;
  }
}

/** Returns questions as a user may ask: four random words and four function words. */
export function questionsOf(count: number): string[] {
  const random = randomFrom(2);
  return Array.from({ length: count }, () => {
    const words = Array.from({ length: 4 }, () => wordOf(FUNCTION_WORDS.length + rankFrom(random)));
    return `What is the ${words[0]} of ${words[1]} in ${words[2]} ${words[3]}?`;
  });
}

/** Returns questions of frequent words, without the most frequent ones. */
export function broadQuestionsOf(count: number): string[] {
  const random = randomFrom(3);
  return Array.from({ length: count }, () =>
    Array.from({ length: 8 }, () => wordOf(FUNCTION_WORDS.length + Math.floor(random() * 40))).join(" "),
  );
}

/** Returns a deterministic vector for a text. Its values do not affect the time of a comparison. */
export function vectorOf(text: string, dimensions: number): number[] {
  let seed = 7;
  for (let index = 0; index < text.length; index++) seed = (seed * 31 + text.charCodeAt(index)) >>> 0;
  const random = randomFrom(seed);
  return Array.from({ length: dimensions }, () => random() - 0.5);
}

function rankFrom(random: () => number): number {
  return Math.floor(VOCABULARY ** random()) - 1;
}

function wordOf(rank: number): string {
  return FUNCTION_WORDS[rank] ?? `w${rank.toString(36)}`;
}

/** Mulberry32: small, and good enough for texts. */
function randomFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
