import type { Measure } from "../measure.ts";

/** The subjects that also support Anthropic's format. */
const SUBJECTS = [
  "socket",
  "hand-written",
  "engine",
  "engine, provider-package",
  "provider-package",
  "ai",
  "pi-agent-core",
];

/** Returns a measure of chat clients with Anthropic's format instead. */
export function inAnthropicsFormat(measure: Measure): Measure {
  const speaks = (subject: string) => SUBJECTS.includes(subject);
  return {
    ...measure,
    name: `${measure.name}-anthropic`,
    what: `as ${measure.name}, in Anthropic's format`,
    subjects: measure.subjects.filter(speaks),
    rivals: (measure.rivals ?? []).filter(speaks),
    targets: (measure.targets ?? []).filter(({ subject }) => speaks(subject)),
    run: (subject, lab) => measure.run(subject, { ...lab, format: "anthropic" }),
  };
}
