import { type DemoIntent, intents, type Round } from "./intents.ts";

/** The meaning of a user's message. `guide`: a question about the demo. `go-on`: a request to continue. */
export type DemoRequest =
  | { readonly type: "work"; readonly rounds: readonly Round[] }
  | { readonly type: "guide" }
  | { readonly type: "go-on" }
  | { readonly type: "unknown"; readonly words: string };

const VERBS = intents.flatMap((intent) => intent.verbs).join("|");
/** Separates requests in sequence. Not the `then` of a shell's `if`. */
const THEN = new RegExp(
  `(?<!;\\s*)(?:[.!,]?\\s+(?:and\\s+)?then,?\\s+|(?<=[^\\s.])(?<!(?:^|\\s)\\d+)[.!]\\s+(?=(?:${VERBS})\\b)|\\s*\\n\\s*(?:[-*]|\\d+[.)])?\\s*(?=(?:${VERBS})\\b))`,
  "gi",
);
/** Separates parallel requests. */
const AND = new RegExp(`,?\\s+and\\s+(?:also\\s+)?(?=(?:${VERBS})\\b)`, "gi");
const BULLET = /^(?:[-*]|\d+[.)])\s+/;
const POLITE =
  /^(?:(?:please|now|first|next|finally|also|then|can you|could you|would you|will you|i want you to|let's|let us)\b,?\s*)+/i;
const GO_ON = /^(?:go on|continue|carry on|proceed)\b/i;
/** The start of a file's content, unless a quote follows. */
const CONTENT =
  /(?:^|\s)(?:create|write|make|save)\s[^\n]*?(?:\s(?:with|containing|saying|that (?:says|contains))(?: (?:the )?(?:contents?|text|words?))?:?|:)\s+/i;

/** Maximum characters of a request. Only a real model could handle longer texts. */
const LONGEST = 4000;

/** Parses a user's message. A message that is understood only in part becomes `unknown`. */
export function understand(message: string): DemoRequest {
  const text = message.trim();
  if (text.length > LONGEST) return { type: "unknown", words: text };
  if (GO_ON.test(text)) return { type: "go-on" };
  const rounds: Round[] = [];
  for (const sentence of splitOutsideQuotes(text, THEN)) {
    const together: (readonly Round[])[] = [];
    for (const clause of splitOutsideQuotes(sentence, AND)) {
      const words = clause
        .trim()
        .replace(BULLET, "")
        .replace(POLITE, "")
        .replace(/,? please(?=[.!?]*$)/i, "");
      const plan = planFor(words);
      if (!plan) return { type: "unknown", words: words || text };
      together.push(plan);
    }
    const length = Math.max(...together.map((plan) => plan.length));
    for (let round = 0; round < length; round++) rounds.push(together.flatMap((plan) => plan[round] ?? []));
  }
  return rounds.length > 0 ? { type: "work", rounds } : { type: "guide" };
}

function planFor(words: string): ReturnType<DemoIntent["plan"]> {
  for (const intent of intents) {
    for (const pattern of intent.patterns) {
      const found = pattern.exec(words);
      const plan = found && intent.plan(found.groups ?? {});
      if (plan) return plan;
    }
  }
  return undefined;
}

function splitOutsideQuotes(text: string, separator: RegExp): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const { index, 0: found } of covered(text).matchAll(separator)) {
    parts.push(text.slice(from, index));
    from = index + found.length;
  }
  return [...parts, text.slice(from)].filter((part) => part.trim() !== "");
}

/** Replaces literal parts (quotes, fences, the content of a file) with placeholders of equal length. */
function covered(text: string): string {
  const cover = (found: string) => "\0".repeat(found.length);
  const quotes = text
    .replace(/(`{3,}|~{3,})[\s\S]*?(?:\1|$)/g, cover)
    .replace(/(?<=^|[\s(:])(["'`])[\s\S]+?\1(?=$|[\s.,;:!?)])/g, cover);
  const content = CONTENT.exec(quotes);
  if (!content) return quotes;
  const begin = content.index + content[0].length;
  return quotes[begin] === "\0" ? quotes : quotes.slice(0, begin) + cover(quotes.slice(begin));
}
