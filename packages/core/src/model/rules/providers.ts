import type { RequestRules, RulesRow } from "./rules.ts";

const MB = 1_000_000;
const MiB = 1024 * 1024;
const KINDS = ["png", "jpeg", "webp", "gif"];

const NINE = /^[A-Za-z0-9]{9}$/;
const PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;

/** The rules of each provider. Sources: the table in `docs/models.md`. */
const PROVIDER_RULES: readonly RulesRow[] = [
  // OpenAI accepts 40 characters in the chat completions format, 64 in the responses format.
  { provider: /\.chat$/, rules: { callId: /^.{1,40}$/s } },
  { provider: /\.responses$/, rules: { callId: /^.{1,64}$/s } },
  { provider: /^(openai(-chat)?\.|azure)/, rules: { maxTools: 128, needsItems: true } },
  { provider: /^(groq|deepseek|xai)/, rules: { maxTools: 128 } },
  { provider: /^openai(-chat)?\./, rules: { pictures: { kinds: KINDS, most: 1_500 } } },
  { provider: /^azure/, rules: { pictures: { kinds: KINDS, bytes: 20 * MB, most: 10 } } },
  { provider: /^xai/, rules: { pictures: { kinds: ["png", "jpeg"], bytes: 20 * MiB } } },
  { provider: /^deepseek/, rules: { pictures: { most: 0 } } },
  // Base 64 adds a third: a request of twenty megabytes.
  {
    provider: /^google/,
    rules: { pictures: { kinds: ["png", "jpeg", "webp", "heic", "heif"], bytes: 15 * MB, most: 3_600 } },
  },
  { provider: /^groq/, rules: { pictures: { pixels: 33_177_600, bytes: 3 * MB, most: 5 } } },
  { provider: /^mistral/, rules: { pictures: { kinds: KINDS, bytes: 10 * MB, most: 8 } } },
  { provider: /^google/, rules: { toolName: /^[a-zA-Z_][\w.:-]{0,63}$/ } },
  {
    provider: /^anthropic/,
    rules: {
      callId: /^[\w-]+$/,
      // Base 64 adds a third: five megabytes.
      pictures: { kinds: KINDS, side: 8_000, bytes: 3.75 * MB, most: 100, crowd: { above: 20, side: 2_000 } },
    },
  },
  {
    provider: /^amazon-bedrock/,
    rules: { callId: /^[\w-]{1,64}$/, pictures: { kinds: KINDS, side: 8_000, bytes: 3.75 * MB, most: 20 } },
  },
  { provider: /^(anthropic|amazon-bedrock)/, rules: { propertyName: PROPERTY, refusesBlankText: true } },
  // Models by name, behind any gateway.
  { model: /(^|\/)(gpt-\d|o[134](-|$))/, rules: { maxTools: 128, needsItems: true } },
  { model: /claude/, rules: { propertyName: PROPERTY, refusesBlankText: true } },
  {
    // Models that reason with a budget. Newer models decide by themselves.
    provider: /^(anthropic|amazon-bedrock)/,
    model: /claude-(3-7|(sonnet|opus|haiku)-4(-[015]\b|-20\d|@|$))/,
    rules: { needsReasoningFirst: true },
  },
  { provider: /^mistral/, rules: { callId: NINE, needsResponseBeforeUser: true } },
  {
    model: /mistral|mixtral|ministral|magistral|devstral|codestral|pixtral|voxtral/i,
    rules: { callId: NINE, needsResponseBeforeUser: true },
  },
  { provider: /\.chat$/, model: /kimi|deepseek/i, rules: { needsReasoningWithCalls: true } },
  // Later rows replace the rule of earlier ones.
  { rules: { output: { references: true } } },
  { model: /(^|[/:])(gpt-[5-9]|gpt-4(o|\.1)|o[134](-|$))/, rules: { output: { withTools: true, references: true } } },
  { provider: /^xai/, model: /grok-[4-9]/, rules: { output: { withTools: true, references: true } } },
  { provider: /^google/, rules: { output: {} } },
  { provider: /^google/, model: /gemini-[3-9]/, rules: { output: { withTools: true } } },
  { provider: /^(anthropic|amazon-bedrock|groq|deepseek)/, rules: { output: undefined } },
  {
    provider: /^anthropic/,
    model: /claude-((sonnet|haiku|opus)-4-[5-9]|opus-4-1|[a-z]+-[5-9])(?!\d)/,
    rules: { output: { withTools: true, optional: 10 } },
  },
];

const known = new Map<string, RequestRules>();

/**
 * Returns the rules for a model.
 * @param provider Provider and format in the AI SDK's terms: `openai.responses`, `anthropic.messages`.
 * @param model The model's name on its server.
 * @example const { maxTools, toolName } = rulesFor("openai.responses", "gpt-5");
 */
export function rulesFor(provider: string, model: string): RequestRules {
  const key = `${provider} ${model}`;
  let rules = known.get(key);
  if (!rules) {
    const rows = PROVIDER_RULES.filter(
      (row) => row.provider?.test(provider) !== false && row.model?.test(model) !== false,
    );
    rules = Object.assign({ toolName: /^[a-zA-Z0-9_-]{1,64}$/ }, ...rows.map((row) => row.rules)) as RequestRules;
    known.set(key, rules);
  }
  return rules;
}
