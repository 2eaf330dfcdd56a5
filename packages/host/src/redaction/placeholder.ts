/** What stands in the place of a secret. */
export function placeholder(kind: string): string {
  return `[redacted:${kind}]`;
}

const PLACEHOLDER = /\[redacted:[A-Za-z][\w-]*\]/;

/**
 * Why a text must not be written anywhere: it holds a placeholder, which would take the place of the secret. Nothing when
 * it holds none.
 */
export function refuse(text: string): string | undefined {
  const [found] = PLACEHOLDER.exec(text) ?? [];
  if (found === undefined) return undefined;
  return `${found} stands for a secret that you are not shown, so writing it would destroy the secret. Leave the line with it as it is, and change only what is around it; where the secret itself is needed, use the variable or the file that holds it, or ask the user.`;
}
