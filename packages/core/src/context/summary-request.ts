/** The form of every summary: headings for the model to fill, so that no kind of fact is forgotten. */
const REQUEST = `Sum up the conversation above. The summary takes its place, and you continue the work with nothing but the summary, so write down all that still counts. Use these headings in this order, and leave out one that has nothing below it:

## Goal
What the user wants, in the user's words where these matter.
## Constraints
Orders, preferences and limits that still hold; of an order that the user corrected, the correction.
## Decisions
What was decided, and why.
## Done
Finished steps with their results: files, commands, names, paths and numbers.
## In progress
What is being done now, and how far it is.
## Next
The steps that are left, in order.
## Open questions
What is not settled, and who has to settle it.

Leave out what is of no further use. Answer with the summary alone; call no tool.`;

/** Returns the request for a summary of at most `bound` tokens, with the instructions of users. */
export function requestFor(words: readonly string[], bound: number): string {
  const asked = `${REQUEST} Use at most ${wordsFor(bound)} words.`;
  if (words.length === 0) return asked;
  return `${asked}\n\nAbove all, follow these words of the user for the summary:\n${words.join("\n\n")}`;
}

/** Returns the request for a shorter summary of at most `bound` tokens. */
export function shorterRequest(bound: number): string {
  return `Your summary is too long. Write it again in at most ${wordsFor(bound)} words, and leave out what matters least. Answer with the summary alone; call no tool.`;
}

/** Number of English words in this many tokens. */
function wordsFor(tokens: number): number {
  return Math.max(10, Math.floor(tokens * 0.7));
}
