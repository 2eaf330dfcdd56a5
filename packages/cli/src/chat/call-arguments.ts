import type { Call, Json } from "@banyan/core";
import { inputOf } from "../show/call-line.ts";
import { firstLines } from "../show/excerpt.ts";
import { visible } from "../show/plain-text.ts";
import type { Style } from "../show/style.ts";

/** The lines of new content that a person is shown before it is written. */
const CONTENT_LINES = 40;

/**
 * The arguments of a call, for a person who is to judge it: a command in full, a change as lines that go and lines that
 * come, anything else by name. Nothing that hides on a terminal stays hidden.
 */
export function callArguments(call: Pick<Call, "input" | "executedInput" | "inputText">, style: Style): string[] {
  const input = inputOf(call as Call);
  if (input === null || typeof input !== "object" || Array.isArray(input))
    return lines(input === undefined ? call.inputText : JSON.stringify(input));
  const values = input as Readonly<Record<string, Json>>;
  const { command, path, content, old_text, new_text, ...rest } = values;
  if (typeof command === "string" && path === undefined) return [...lines(command), ...others({ ...rest })];
  if (typeof path !== "string") return named(values);
  if (typeof old_text === "string" && typeof new_text === "string") {
    return [...lines(path), ...marked("-", old_text, style.bad), ...marked("+", new_text, style.good), ...others(rest)];
  }
  if (typeof content === "string")
    return [...lines(path), ...marked("+", firstLines(content, CONTENT_LINES), style.good), ...others(rest)];
  return named(values);
}

/** Values by their names; as JSON where values have parts of their own. */
function named(input: Readonly<Record<string, Json>>): string[] {
  const isFlat = Object.values(input).every((value) => value === null || typeof value !== "object");
  return isFlat && Object.keys(input).length > 0 ? others(input) : lines(JSON.stringify(input, null, 2));
}

function lines(text: string): string[] {
  return visible(text).split("\n");
}

function marked(sign: string, text: string, paint: (text: string) => string): string[] {
  if (text === "") return [];
  return lines(text.replace(/\n$/, "")).map((line) => paint(`${sign} ${line}`));
}

function others(rest: Readonly<Record<string, Json>>): string[] {
  return Object.entries(rest).map(([name, value]) => visible(`${name}: ${JSON.stringify(value)}`));
}
