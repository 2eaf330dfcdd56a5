import { intents } from "./intents.ts";

const EXAMPLES = intents.map((intent) => `- ${intent.example}`).join("\n");

const REAL_MODEL = [
  "For a real model, do one of these and start again:",
  "",
  "- set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`",
  "- set `OPENAI_COMPATIBLE_BASE_URL` to the address of any server that speaks the OpenAI chat format",
  "- start Ollama, which is found by itself",
].join("\n");

const UNDERSTOOD = `I understand requests like these, also several of them, joined by "and" or "then":\n\n${EXAMPLES}`;

/** What the demo is, for whoever asks. */
export function guide(tools: readonly string[]): string {
  const offered =
    tools.length > 0 ? `The tools that I can call here: ${tools.join(", ")}.` : "No tools are offered to me here.";
  return [
    "I am `demo/offline`: a few rules, not a language model. I show how a conversation works here, without a key and without a network.",
    UNDERSTOOD,
    `${offered} What has an effect asks you first.`,
    REAL_MODEL,
  ].join("\n\n");
}

export function notUnderstood(words: string): string {
  const quoted = words.replace(/\s+/g, " ");
  const short = quoted.length > 80 ? `${quoted.slice(0, 79)}…` : quoted;
  return [
    `I do not understand "${short}". I am \`demo/offline\`: a few rules, not a language model, and did nothing.`,
    UNDERSTOOD,
    REAL_MODEL,
  ].join("\n\n");
}
