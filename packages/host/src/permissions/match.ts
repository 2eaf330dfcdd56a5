/** Whether a rule fits something that is not known in full. `perhaps`: it depends on what is not known. */
export type Match = "no" | "perhaps" | "yes";

/** Stands in a text for a piece that nobody knows before it happens: the value of a variable, what a command prints. */
export const UNKNOWN = "\0";

/** The strongest of several answers. */
export function strongest(matches: Iterable<Match>): Match {
  let best: Match = "no";
  for (const match of matches) {
    if (match === "yes") return "yes";
    if (match === "perhaps") best = "perhaps";
  }
  return best;
}

/**
 * Whether the pattern fits the text, whatever its unknown pieces turn out to be. `*` stands for any characters,
 * spaces and slashes too; everything else for itself. A pattern that ends in ` *` fits without the rest as well:
 * `npm test *` fits `npm test`.
 */
export function covers(pattern: string, text: string): boolean {
  const wild = pattern.indexOf("*");
  // Most rules have nothing to do with a text, which their first letters tell.
  if (wild === -1) return pattern === text;
  if (!text.startsWith(pattern.slice(0, wild).trimEnd())) return false;
  return variants(pattern).some((variant) => fits(variant, text, false));
}

/** Whether the pattern can fit the text, for some value of its unknown pieces. */
export function meets(pattern: string, text: string): boolean {
  return variants(pattern).some((variant) => fits(variant, text, true));
}

function variants(pattern: string): string[] {
  return pattern.endsWith(" *") && pattern.length > 2 ? [pattern, pattern.slice(0, -2)] : [pattern];
}

/** Follows, character by character of the pattern, which positions of the text can have been reached. Linear in the product of both lengths. */
function fits(pattern: string, text: string, unknownIsAnything: boolean): boolean {
  const length = text.length;
  let reached = new Uint8Array(length + 1);
  reached[0] = 1;
  const passUnknown = (): void => {
    if (!unknownIsAnything) return;
    for (let at = 0; at < length; at++) if (reached[at] && text[at] === UNKNOWN) reached[at + 1] = 1;
  };
  passUnknown();
  for (const character of pattern.split("")) {
    const next = new Uint8Array(length + 1);
    if (character === "*") {
      const first = reached.indexOf(1);
      if (first === -1) return false;
      next.fill(1, first);
    } else {
      for (let at = 0; at < length; at++) {
        if (!reached[at]) continue;
        if (text[at] === character) next[at + 1] = 1;
        // An unknown piece can give this character and more after it, so the text does not move on.
        else if (unknownIsAnything && text[at] === UNKNOWN) next[at] = 1;
      }
    }
    reached = next;
    passUnknown();
  }
  return reached[length] === 1;
}
