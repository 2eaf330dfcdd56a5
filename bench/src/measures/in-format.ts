import type { Format, Measure } from "../measure.ts";

/** The subjects that also support other formats than chat completions. */
const SUBJECTS = [
  "socket",
  "hand-written",
  "engine",
  "engine, provider-package",
  "provider-package",
  "ai",
  "pi-agent-core",
];

const NAMES: Readonly<Record<Format, string>> = { chat: "chat completions", anthropic: "Anthropic", gemini: "Gemini" };

/** Returns a measure of chat clients with another format instead. */
export function inFormat(format: Format, measure: Measure): Measure {
  const speaks = (subject: string) => SUBJECTS.includes(subject);
  return {
    ...measure,
    name: `${measure.name}-${format}`,
    what: `as ${measure.name}, in the format of ${NAMES[format]}`,
    subjects: measure.subjects.filter(speaks),
    rivals: (measure.rivals ?? []).filter(speaks),
    targets: (measure.targets ?? []).filter(({ subject }) => speaks(subject)),
    run: (subject, lab) => measure.run(subject, { ...lab, format }),
  };
}
