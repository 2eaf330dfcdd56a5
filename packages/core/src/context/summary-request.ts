/** The headings make the model consider each kind of fact. */
const REQUEST = `Sum up the conversation above. The summary replaces the conversation, and you continue the work with the summary alone, so write down everything that still matters. Use these headings in this order, and leave out empty ones:

## Goal
The user's goal, in the user's words if these matter.
## Constraints
Orders, preferences and limits that still hold. If the user corrected an order, only the correction.
## Decisions
Each decision, and the reason.
## Done
Finished steps with their results: files, commands, names, paths and numbers.
## In progress
Current work, and its progress.
## Next
The steps that are left, in order.
## Open questions
Each open question, and who must answer it.

Leave out the rest. Answer with the summary alone; call no tool.`;

export function requestFor(words: readonly string[], bound: number): string {
  const asked = `${REQUEST} Use at most ${wordsFor(bound)} words.`;
  if (words.length === 0) return asked;
  return `${asked}\n\nAbove all, follow these instructions of the user for the summary:\n${words.join("\n\n")}`;
}

export function shorterRequest(bound: number): string {
  return `Your summary is too long. Write it again in at most ${wordsFor(bound)} words, and leave out what matters least. Answer with the summary alone; call no tool.`;
}

function wordsFor(tokens: number): number {
  return Math.max(10, Math.floor(tokens * 0.7));
}
