import type { Format, Measure } from "../measure.ts";

type OtherFormat = Exclude<Format, "chat">;

/** The subjects that support all formats. */
const SUBJECTS = [
  "socket",
  "hand-written",
  "engine",
  "engine, provider-package",
  "provider-package",
  "ai",
  "pi-agent-core",
];

/** Further subjects of a format. */
const FURTHER: Readonly<Record<OtherFormat, readonly string[]>> = {
  anthropic: [],
  gemini: [],
  responses: ["openai-agents"],
};

const NAMES: Readonly<Record<OtherFormat, string>> = {
  anthropic: "Anthropic",
  gemini: "Gemini",
  responses: "OpenAI's responses",
};

/** Returns a measure of chat clients with another format instead. */
export function inFormat(format: OtherFormat, measure: Measure): Measure {
  const speaks = (subject: string) => SUBJECTS.includes(subject) || FURTHER[format].includes(subject);
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
