const REQUEST = `Sum up the conversation above, so that you can go on without it. Write down all that still counts: what the person wants, in their words where these matter; what was decided, and why; what was found, with names, paths and numbers; which files were changed, and how; what is being done now, and what is left to do. Leave out what is settled and of no further use. Answer with the summary alone; call no tool.`;

/** What a model is asked for. `bound`: tokens that the summary may have. */
export function requestFor(wanted: string | undefined, bound: number): string {
  const asked = `${REQUEST} Use at most ${wordsFor(bound)} words.`;
  return wanted === undefined ? asked : `${asked} Above all, keep what the person asks you to keep:\n${wanted}`;
}

/** What a model is asked for when its summary was longer than `bound` tokens. */
export function shorterRequest(bound: number): string {
  return `Your summary is too long. Write it again in at most ${wordsFor(bound)} words, and leave out what matters least. Answer with the summary alone; call no tool.`;
}

/** Words of English that so many tokens hold. */
function wordsFor(tokens: number): number {
  return Math.max(10, Math.floor(tokens * 0.7));
}
