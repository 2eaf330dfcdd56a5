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

/** Asks a person; rejects when nobody can be asked, or they do not want to answer. */
export type Ask = (question: Question) => Promise<string>;

type Content = NonNullable<ElicitResult["content"]>;
type Value = Content[string];

/** A field of a form, as far as it matters here; the schemas of the protocol are a union of many. */
interface Field {
  readonly type?: "string" | "number" | "integer" | "boolean" | "array";
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly default?: Value;
  readonly enum?: readonly string[];
  readonly enumNames?: readonly string[];
  readonly oneOf?: readonly Choice[];
  readonly items?: { readonly enum?: readonly string[]; readonly anyOf?: readonly Choice[] };
}

interface Choice {
  readonly const: string;
  readonly title: string;
}

/** How often somebody may answer a field in a way that does not fit. */
const ATTEMPTS = 3;

/**
 * Puts the question of a server, or of another program, to a person: first whether they want to answer it at all, knowing
 * who asks for what (`asker`, in words), then field by field. Whoever declines says so to the server; where nobody answers, the question is cancelled.
 */
export async function answerElicitation(asker: string, params: ElicitRequestParams, ask: Ask): Promise<ElicitResult> {
  try {
    return params.mode === "url"
      ? await visitAddress(asker, params as ElicitRequestURLParams, ask)
      : await fillForm(asker, params as ElicitRequestFormParams, ask);
  } catch {
    // Nobody is there, or the call that they would answer for is over. The server learns that much.
    return { action: "cancel" };
  }
}

async function visitAddress(asker: string, params: ElicitRequestURLParams, ask: Ask): Promise<ElicitResult> {
  const { protocol, href, host } = new URL(params.url);
  if (protocol !== "https:" && protocol !== "http:") return { action: "decline" };
  const text =
    `${asker} asks you to open a page of ${host} in your browser: ${said(params.message)}\n${href}\n` +
    `Open it only if you trust ${host}. Banyan does not see your actions there.`;
  return { action: (await agrees(ask, stripControls(text), "done")) ? "accept" : "decline" };
}

async function fillForm(asker: string, params: ElicitRequestFormParams, ask: Ask): Promise<ElicitResult> {
  const { properties, required = [] } = params.requestedSchema;
  const fields = Object.entries(properties as Readonly<Record<string, Field>>);
  const names = said(fields.map(([key, { title = key }]) => title).join(", "));
  const wanted = fields.length === 0 ? "" : `\nIt wants to know: ${names}.`;
  if (!(await agrees(ask, stripControls(`${asker} asks: ${said(params.message)}${wanted}`), "answer")))
    return { action: "decline" };
  const content: Content = {};
  for (const [key, field] of fields) {
    const value = await fillField(asker, key, field, required.includes(key), ask);
    if (value !== undefined) content[key] = value;
  }
  return { action: "accept", content };
}

/** Characters of a text of the server in a question, which must not push out of sight whose it is. */
const LONGEST = 2000;

/** A text of the server in a question: on one line, and not too long. */
function said(text: string): string {
  const line = text.replace(/[\s\u2028\u2029]+/gu, " ").trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}...` : line;
}

/** Returns whether a user agrees to something. A number that is none of the choices is asked again, a few times (F108). */
async function agrees(ask: Ask, text: string, word: string): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const again = attempt === 0 ? "" : `\nNot a choice: "${word}" or "decline"?`;
    const answer = (await ask({ text: text + again, choices: [word, "decline"] })).trim().toLowerCase();
    if (!/^[-+]?\d+$/.test(answer)) return [word, "yes", "y"].includes(answer);
  }
  return false;
}

/** What is said to leave out a field that may be: of an empty answer nobody knows whether it is one. */
const LEFT_OUT = "leave it out";
const DASH = "-";

/** By the formats of the protocol: what it is, and one. Nobody knows how a server wants a date. */
const FORMATS: Readonly<Record<string, readonly [name: string, example: string]>> = {
  date: ["a date", "2026-01-31"],
  "date-time": ["a day and a time", "2026-01-31T09:30:00Z"],
  email: ["an e-mail address", "name@example.com"],
  uri: ["an address", "https://example.com"],
};

function formatOf({ format = "" }: Field): (typeof FORMATS)[string] | undefined {
  return Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
}

/** Why an answer does not fit, from the words that whoever checked it has for that. */
function misfit(message: string, field: Field): string {
  const [name, example] = formatOf(field) ?? [];
  const words = message.replace(/^data(?:\/\S*)? /, "");
  return `it ${name !== undefined && words.startsWith("must match format ") ? `must be ${name}, as in ${example}` : words}`;
}

/** The value of a field; undefined when it is left out. Rejects when it cannot be had. */
async function fillField(
  asker: string,
  key: string,
  field: Field,
  required: boolean,
  ask: Ask,
): Promise<Value | undefined> {
  const schema = fromJsonSchema(field as JsonSchemaType);
  const choices = choicesOf(field);
  const several = field.type === "array";
  const { title = key, description } = field;
  const form = several ? severalOf(title, choices, required) : undefined;
  const isTyped = form === undefined && (several || choices.length === 0);
  const format = formatOf(field);
  const hints = [
    ...(isTyped && format ? [`as in ${format[1]}`] : []),
    ...(required ? [] : [isTyped ? `${DASH} leaves it out` : "may be left out"]),
  ];
  const optional = hints.length === 0 ? "" : ` (${hints.join("; ")})`;
  const text = [
    // Each question says whose it is: one that only the server worded could pass for this program's own.
    `${asker} wants to know: ${said(title)}${optional}${description === undefined ? "" : `: ${said(description)}`}`,
    ...(several && !form
      ? [`Several, with commas between them, of: ${said(choices.map(({ title }) => title).join(", "))}`]
      : []),
  ].join("\n");
  const offered = [...choices.map(({ title }) => stripControls(title)), ...(required ? [] : [LEFT_OUT])];
  let problem = "";
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const answer = await ask({
      text: stripControls(problem + text),
      ...(form && { fields: [form] }),
      ...(choices.length > 0 && !several && { choices: offered }),
      ...(field.default !== undefined && { default: shown(field.default, choices) }),
    });
    if (!required && ["", DASH, LEFT_OUT].includes(answer.trim())) return undefined;
    if (answer.trim() === "") {
      problem = "An answer is needed here.\n";
      continue;
    }
    const value = read(field, choices, answer.trim());
    const checked = await schema["~standard"].validate(value);
    if (!checked.issues) return value;
    problem = `Not a valid answer: ${checked.issues.map(({ message }) => misfit(message, field)).join("; ")}.\n`;
  }
  throw new RangeError(`No answer for ${key} fits.`);
}

function choicesOf(field: Field): readonly Choice[] {
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

/** Several of a few, to be chosen in a form; nothing where a form cannot hold them. */
function severalOf(title: string, choices: readonly Choice[], required: boolean): QuestionField | undefined {
  const heading = stripControls(said(title)).slice(0, HEADING).trim();
  const labels = [...choices.map((choice) => stripControls(said(choice.title))), ...(required ? [] : [LEFT_OUT])];
  const isOne = (label: string) => label !== "" && label.length <= LABEL;
  const areTold = new Set(labels.map((label) => label.trim().toLowerCase())).size === labels.length;
  if (heading === "" || labels.length < 2 || labels.length > CHOICES || !labels.every(isOne) || !areTold)
    return undefined;
  return { heading, text: "Which of them?", choices: labels.map((label) => ({ label })), several: true };
}

/** What a form can hold: choices, and characters of a choice and of a name. */
const CHOICES = 12;
const LABEL = 100;
const HEADING = 40;

function shown(value: Value, choices: readonly Choice[]): string {
  const one = (inner: unknown) => choices.find((choice) => choice.const === String(inner))?.title ?? String(inner);
  return Array.isArray(value) ? value.map(one).join(", ") : one(value);
}

/** The parts of an answer that has commas between them; a name that has one itself is a part. */
function named(answer: string, choices: readonly Choice[]): string[] {
  const rest = answer.trim();
  const longest = choices
    .map(({ title }) => title)
    .filter(
      (title) => rest.toLowerCase().startsWith(title.toLowerCase()) && /^\s*(?:,|$)/.test(rest.slice(title.length)),
    )
    .sort((one, other) => other.length - one.length)[0];
  const part = longest ?? rest.split(",", 1)[0] ?? "";
  const more = rest.slice(part.length).replace(/^\s*,/, "");
  return [part.trim(), ...(more.trim() === "" ? [] : named(more, choices))];
}

/** What an answer means for a field. One that means nothing stays as it is, and does not fit. */
function read(field: Field, choices: readonly Choice[], answer: string): Value {
  const one = (text: string) => choices.find(({ title }) => title.toLowerCase() === text.toLowerCase())?.const ?? text;
  switch (field.type) {
    case "array":
      return named(answer, choices).map(one);
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
