import type { Question } from "@banyan/core";
import type { QuestionField } from "@banyan/core/conversation";
import {
  type ElicitRequestFormParams,
  type ElicitRequestParams,
  type ElicitRequestURLParams,
  type ElicitResult,
  fromJsonSchema,
  type JsonSchemaType,
} from "@modelcontextprotocol/client";
import { stripControls } from "../workspace/files/plain-text.ts";

/** Asks a user. Rejects if no user can be asked or the user does not answer. See {@link McpOptions}. */
export type Ask = (question: Question) => Promise<string>;

type ElicitationContent = NonNullable<ElicitResult["content"]>;
type FieldValue = ElicitationContent[string];

/** The parts of a form field that are used here; the protocol's type is a large union. */
interface Field {
  readonly type?: "string" | "number" | "integer" | "boolean" | "array";
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly default?: FieldValue;
  readonly enum?: readonly string[];
  readonly enumNames?: readonly string[];
  readonly oneOf?: readonly SchemaChoice[];
  readonly items?: { readonly enum?: readonly string[]; readonly anyOf?: readonly SchemaChoice[] };
}

interface SchemaChoice {
  readonly const: string;
  readonly title: string;
}

const ATTEMPTS = 3;

/**
 * Asks a user the question of an MCP server or of another program, named `asker` in the text. The user first agrees or
 * declines to answer, then answers field by field. Declining returns `decline`, and a missing answer `cancel`.
 */
export async function answerElicitation(asker: string, params: ElicitRequestParams, ask: Ask): Promise<ElicitResult> {
  try {
    return params.mode === "url"
      ? await visitAddress(asker, params as ElicitRequestURLParams, ask)
      : await fillForm(asker, params as ElicitRequestFormParams, ask);
  } catch {
    // No user is there, or the call that asks is over. The server gets a cancellation.
    return { action: "cancel" };
  }
}

async function visitAddress(asker: string, params: ElicitRequestURLParams, ask: Ask): Promise<ElicitResult> {
  const { protocol, href, host } = new URL(params.url);
  if (protocol !== "https:" && protocol !== "http:") return { action: "decline" };
  const text =
    `${asker} asks you to open a page of ${host} in your browser: ${serverText(params.message)}\n${href}\n` +
    `Open the address only if you trust ${host}. Banyan does not see what you do there.`;
  return { action: (await askAgreement(ask, stripControls(text), "done")) ? "accept" : "decline" };
}

async function fillForm(asker: string, params: ElicitRequestFormParams, ask: Ask): Promise<ElicitResult> {
  const { properties, required = [] } = params.requestedSchema;
  const fields = Object.entries(properties as Readonly<Record<string, Field>>);
  const names = serverText(fields.map(([key, { title = key }]) => title).join(", "));
  const wanted = fields.length === 0 ? "" : `\nIt asks for: ${names}.`;
  if (!(await askAgreement(ask, stripControls(`${asker} asks: ${serverText(params.message)}${wanted}`), "answer")))
    return { action: "decline" };
  const content: ElicitationContent = {};
  for (const [key, field] of fields) {
    const value = await fillField(asker, key, field, required.includes(key), ask);
    if (value !== undefined) content[key] = value;
  }
  return { action: "accept", content };
}

/** Maximum characters of a server's text in a question: a longer text could hide the server's name. */
const LONGEST = 2000;

function serverText(text: string): string {
  const line = text.replace(/[\s\u2028\u2029]+/gu, " ").trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}...` : line;
}

/** Asks whether the user agrees. Asks again after a number that is no choice, up to `ATTEMPTS` times (F108). */
async function askAgreement(ask: Ask, text: string, word: string): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const again = attempt === 0 ? "" : `\nNot a choice: "${word}" or "decline"?`;
    const answer = (await ask({ text: text + again, choices: [word, "decline"] })).trim().toLowerCase();
    if (!/^[-+]?\d+$/.test(answer)) return [word, "yes", "y"].includes(answer);
  }
  return false;
}

/** The answer that skips an optional field. An empty answer would be ambiguous. */
const LEFT_OUT = "skip this field";
const DASH = "-";

/** The name and an example of each format, because a user cannot know the expected form of a date. */
const FORMATS: Readonly<Record<string, readonly [name: string, example: string]>> = {
  date: ["a date", "2026-01-31"],
  "date-time": ["a day and a time", "2026-01-31T09:30:00Z"],
  email: ["an e-mail address", "name@example.com"],
  uri: ["an address", "https://example.com"],
};

function formatOf({ format = "" }: Field): (typeof FORMATS)[string] | undefined {
  return Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
}

function misfitSentence(message: string, field: Field): string {
  const [name, example] = formatOf(field) ?? [];
  const words = message.replace(/^data(?:\/\S*)? /, "");
  return `it ${name !== undefined && words.startsWith("must match format ") ? `must be ${name}, as in ${example}` : words}`;
}

/** Asks for the value of a field; undefined if the user skips the field. Rejects if no answer is valid. */
async function fillField(
  asker: string,
  key: string,
  field: Field,
  required: boolean,
  ask: Ask,
): Promise<FieldValue | undefined> {
  const schema = fromJsonSchema(field as JsonSchemaType);
  const choices = choicesOf(field);
  const several = field.type === "array";
  const { title = key, description } = field;
  const form = several ? severalOf(title, choices, required) : undefined;
  const isTyped = form === undefined && (several || choices.length === 0);
  const format = formatOf(field);
  const hints = [
    ...(isTyped && format ? [`as in ${format[1]}`] : []),
    ...(required ? [] : [isTyped ? `type ${DASH} to skip` : "optional"]),
  ];
  const optional = hints.length === 0 ? "" : ` (${hints.join("; ")})`;
  const text = [
    // Each question names the asker: a question in the server's words alone could pass for the program's own.
    `${asker} asks for: ${serverText(title)}${optional}${description === undefined ? "" : `: ${serverText(description)}`}`,
    ...(several && !form
      ? [`Choose one or more, separated by commas: ${serverText(choices.map(({ title }) => title).join(", "))}`]
      : []),
  ].join("\n");
  const offered = [...choices.map(({ title }) => stripControls(title)), ...(required ? [] : [LEFT_OUT])];
  let problem = "";
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const answer = await ask({
      text: stripControls(problem + text),
      ...(form && { fields: [form] }),
      ...(choices.length > 0 && !several && { choices: offered }),
      ...(field.default !== undefined && { default: shownChoice(field.default, choices) }),
    });
    if (!required && ["", DASH, LEFT_OUT].includes(answer.trim())) return undefined;
    if (answer.trim() === "") {
      problem = "This field needs an answer.\n";
      continue;
    }
    const value = readField(field, choices, answer.trim());
    const checked = await schema["~standard"].validate(value);
    if (!checked.issues) return value;
    problem = `Not a valid answer: ${checked.issues.map(({ message }) => misfitSentence(message, field)).join("; ")}.\n`;
  }
  throw new RangeError(`No valid answer for ${key}.`);
}

function choicesOf(field: Field): readonly SchemaChoice[] {
  if (field.type === "boolean") {
    return [
      { const: "true", title: "yes" },
      { const: "false", title: "no" },
    ];
  }
  const named = (values: readonly string[], names: readonly string[] = []) =>
    values.map((value, at) => ({ const: value, title: names[at] ?? value }));
  return (
    field.oneOf ??
    field.items?.anyOf ??
    named(field.enum ?? field.items?.enum ?? [], field.enum === undefined ? [] : field.enumNames)
  );
}

function severalOf(title: string, choices: readonly SchemaChoice[], required: boolean): QuestionField | undefined {
  const heading = stripControls(serverText(title)).slice(0, HEADING).trim();
  const labels = [...choices.map((choice) => stripControls(serverText(choice.title))), ...(required ? [] : [LEFT_OUT])];
  const isOne = (label: string) => label !== "" && label.length <= LABEL;
  const areTold = new Set(labels.map((label) => label.trim().toLowerCase())).size === labels.length;
  if (heading === "" || labels.length < 2 || labels.length > CHOICES || !labels.every(isOne) || !areTold)
    return undefined;
  return { heading, text: "Which of them?", choices: labels.map((label) => ({ label })), several: true };
}

const CHOICES = 12;
const LABEL = 100;
const HEADING = 40;

function shownChoice(value: FieldValue, choices: readonly SchemaChoice[]): string {
  const one = (inner: unknown) => choices.find((choice) => choice.const === String(inner))?.title ?? String(inner);
  return Array.isArray(value) ? value.map(one).join(", ") : one(value);
}

/** Splits an answer at commas. A choice whose title contains a comma stays whole. */
function choicesNamed(answer: string, choices: readonly SchemaChoice[]): string[] {
  const rest = answer.trim();
  const longest = choices
    .map(({ title }) => title)
    .filter(
      (title) => rest.toLowerCase().startsWith(title.toLowerCase()) && /^\s*(?:,|$)/.test(rest.slice(title.length)),
    )
    .sort((one, other) => other.length - one.length)[0];
  const part = longest ?? rest.split(",", 1)[0] ?? "";
  const more = rest.slice(part.length).replace(/^\s*,/, "");
  return [part.trim(), ...(more.trim() === "" ? [] : choicesNamed(more, choices))];
}

/** Converts an answer to the field's type. An unreadable answer stays text and then fails validation. */
function readField(field: Field, choices: readonly SchemaChoice[], answer: string): FieldValue {
  const one = (text: string) => choices.find(({ title }) => title.toLowerCase() === text.toLowerCase())?.const ?? text;
  switch (field.type) {
    case "array":
      return choicesNamed(answer, choices).map(one);
    case "boolean": {
      const value = one(answer);
      return value === "true" ? true : value === "false" ? false : answer;
    }
    case "number":
    case "integer":
      return Number.isNaN(Number(answer)) ? answer : Number(answer);
    default:
      return one(answer);
  }
}
