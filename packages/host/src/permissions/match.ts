/** True if a rule matches a call. `perhaps`: unknown parts of the call decide. */
export type RuleMatch = "no" | "perhaps" | "yes";

/** A permission rule for all calls of a tool, or for calls whose main argument matches a pattern. */
export interface Rule {
  /** A tool's name; a prefix of MCP tool names with `*` (`mcp_files_*`); or `*` for all tools. */
  readonly tool: string;
  /** The pattern. Absent: the rule covers every call of the tool. */
  readonly pattern?: string;
  /** The original text of a rule for another program, such as `Bash(rm:*)`. */
  readonly written?: string;
  /**
   * All meanings of a rule that was written for another program. `tool` and `pattern` are the first meaning that the
   * rule allows.
   */
  readonly means?: ForeignMeaning;
}

/** The meaning of another program's rule in Banyan. */
export interface ForeignMeaning {
  /** The allow rules. They never allow more than the original rule in its program. */
  readonly allows: readonly Rule[];
  /** The deny and ask rules. They never cover less than the original rule in its program. */
  readonly restrains: readonly Rule[];
}

/** A call in the form that rules are compared with. */
export interface Subject {
  /** Returns whether a deny or ask rule matches this call. */
  matches(rule: Rule): RuleMatch;
  /** Returns whether the rules together allow the whole call, or the call needs no rule. */
  allowed(rules: readonly Rule[]): boolean;
  /** Returns the rule that would allow this call and similar ones; undefined if no single safe rule does. */
  suggestion(rules: readonly Rule[]): string | undefined;
}

/** A placeholder for text that is not known before a command runs, such as the value of a variable. */
export const UNKNOWN = "\0";

/** Returns the strongest of several matches. */
export function strongest(matches: Iterable<RuleMatch>): RuleMatch {
  let best: RuleMatch = "no";
  for (const match of matches) {
    if (match === "yes") return "yes";
    if (match === "perhaps") best = "perhaps";
  }
  return best;
}

/**
 * Returns whether a pattern matches a text for all values of its `UNKNOWN` pieces. `*` matches spaces and slashes too.
 */
export function covers(pattern: string, text: string): boolean {
  const wild = pattern.indexOf("*");
  // A quick check: most rules do not concern the text.
  if (wild === -1) return pattern === text;
  if (!text.startsWith(pattern.slice(0, wild).trimEnd())) return false;
  return variants(pattern).some((variant) => fitsText(variant, text, false));
}

/** Returns whether a pattern can match a text: whether it matches for some value of the text's unknown pieces. */
export function meets(pattern: string, text: string): boolean {
  return variants(pattern).some((variant) => fitsText(variant, text, true));
}

function variants(pattern: string): string[] {
  return pattern.endsWith(" *") && pattern.length > 2 ? [pattern, pattern.slice(0, -2)] : [pattern];
}

/** Takes time proportional to the product of both lengths. */
function fitsText(pattern: string, text: string, unknownIsAnything: boolean): boolean {
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
        // An unknown piece can produce this character and more.
        else if (unknownIsAnything && text[at] === UNKNOWN) next[at] = 1;
      }
    }
    reached = next;
    passUnknown();
  }
  return reached[length] === 1;
}
