import { cutTo } from "@banyan/core/shown";
import type { CaseCheck } from "./case-check.ts";

/** Maximum characters of a text in an explanation. */
export const SHOWN = 400;

/** Describes a check in words. */
export function describeCheck(check: CaseCheck): string {
  const { command, exit = 0, file, absent, exists, judge } = check;
  if (judge !== undefined) return `the judge says: ${judge.trim()}`;
  if (absent) return `there is no ${file}`;
  if (exists) return `there is ${file}`;
  const content = expectedText(check);
  if (command === undefined) return `${file ?? "the answer"} ${content}`;
  return `\`${command.trim()}\` exits with ${exit}${content === "" ? "" : `, and its output ${content}`}`;
}

function expectedText({ equals, contains, lacks, matches, schema }: CaseCheck): string {
  const fits = schema && `the schema ${JSON.stringify(schema)}`;
  const said = { equals, contains, lacks, fits, matches: matches === undefined ? undefined : `/${matches}/` };
  return Object.entries(said)
    .flatMap(([how, text]) =>
      text === undefined
        ? []
        : [`${how} ${how === "matches" ? text : how === "fits" ? cutTo(text, SHOWN) : quoteShortened(text)}`],
    )
    .join(" and ");
}

export function quoteShortened(text: string): string {
  return JSON.stringify(cutTo(text, SHOWN));
}
