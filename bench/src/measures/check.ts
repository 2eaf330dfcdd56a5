/** Fails for a client that loses text. */
export function checkText(characters: number | undefined, expected: string): void {
  if (characters === undefined || characters === expected.length) return;
  throw new Error(`The answer has ${characters} characters; ${expected.length} were sent.`);
}
