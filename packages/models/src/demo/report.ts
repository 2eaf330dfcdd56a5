import type { Json } from "@banyan/core";
import type { PromptCall, PromptResult } from "@banyan/core/drivers";
import { isJsonRecord } from "@banyan/core/shown";

/** A tool call of the demo model, with its result. */
export interface CallReport {
  readonly call: PromptCall;
  readonly result: PromptResult;
}

/** Maximum lines of quoted output. */
const MOST_LINES = 20;

/** Describes a call in words that continue a sentence after "I", such as "read notes.txt". */
export function describeDemoCall({ tool, input }: { readonly tool: string; readonly input: Json }): string {
  const of = (name: string) => inline(argument(input, name));
  switch (tool) {
    case "list":
      return argument(input, "path") === "." ? "list this folder" : `list ${of("path")}`;
    case "read": {
      const [start, end] = [argument(input, "start"), argument(input, "end")];
      const range = start === "" ? "" : start === end ? `, line ${start}` : `, lines ${start} to ${end}`;
      return `read ${of("path")}${range}`;
    }
    case "search": {
      const place = argument(input, "path") || argument(input, "glob");
      return `search ${place ? inline(place) : "this folder"} for ${of("pattern")}`;
    }
    case "write":
      return `write ${of("path")}`;
    case "edit":
      return `change ${of("path")}`;
    case "shell":
      return `run ${of("command")}`;
    default:
      return `call ${inline(tool)}`;
  }
}

/** Describes the result of a call in a sentence for users. */
export function reportDemoCall({ call, result }: CallReport, all: readonly CallReport[]): string {
  if (result.failed) return `I could not ${describeDemoCall(call)}. The result:\n\n${block(result.output)}`;
  const lines = resultOutputLines(result);
  const entries = lines.filter((line) => !line.startsWith("["));
  const shown = block(result.output);
  switch (call.tool) {
    case "list": {
      const folder = argument(call.input, "path");
      const name = folder === "." ? "This folder" : inline(folder);
      return entries.length === 0
        ? `${name} is empty.`
        : `${name} has ${countedLines(entries, "entry", "entries")}:\n\n${shown}`;
    }
    case "read": {
      const path = argument(call.input, "path");
      // A file that is read only to be changed is reported with its change.
      if (isChangedLater(call, all)) return "";
      return entries.length === 0
        ? `${inline(path)} is empty.`
        : `${inline(path)}, ${countedLines(entries, "line")}:\n\n${shown}`;
    }
    case "search":
      return entries.length === 0
        ? `Nothing matches ${inline(argument(call.input, "pattern"))}.`
        : `${countedLines(entries, "line matches", "lines match")} ${inline(argument(call.input, "pattern"))}:\n\n${shown}`;
    case "shell":
      return `${inline(argument(call.input, "command"))} ${howItEnded(lines.at(-1) ?? "")}:\n\n${shown}`;
    default:
      return lines.length > 1
        ? `${capital(describeDemoCall(call))}: done.\n\n${shown}`
        : lines[0] || `${capital(describeDemoCall(call))}: done.`;
  }
}

function isChangedLater(call: PromptCall, all: readonly CallReport[]): boolean {
  const later = all.slice(all.findIndex((outcome) => outcome.call === call));
  const path = argument(call.input, "path");
  return later.some((outcome) => outcome.call.tool === "edit" && argument(outcome.call.input, "path") === path);
}

function howItEnded(lastLine: string): string {
  if (/^exit code \d+$/.test(lastLine)) return `ended with ${lastLine}`;
  return /^\[(?:timed out|cancelled)/.test(lastLine) ? "did not end by itself" : "ended with exit code 0";
}

function argument(input: Json, name: string): string {
  if (!isJsonRecord<Readonly<Record<string, Json>>>(input)) return "";
  const value = input[name];
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}

function resultOutputLines({ output }: PromptResult): string[] {
  const lines = output.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function countedLines(lines: readonly string[], one: string, many = `${one}s`): string {
  return `${lines.length} ${lines.length === 1 ? one : many}`;
}

function capital(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** Inline code; its fence is longer than any inside. */
function inline(text: string): string {
  const fence = "`".repeat(longestRun(text) + 1);
  const space = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${fence}${space}${text.replaceAll("\n", " ")}${space}${fence}`;
}

/** The beginning of a text in a fenced block. */
function block(text: string): string {
  const lines = text.replace(/\n$/, "").split("\n");
  // One more line takes no more room than a sentence about it.
  const most = lines.length === MOST_LINES + 1 ? lines.length : MOST_LINES;
  const shown = lines.slice(0, most).join("\n");
  const fence = "`".repeat(Math.max(3, longestRun(shown) + 1));
  const rest = lines.length > most ? `\n\n(and ${lines.length - most} more lines)` : "";
  return `${fence}\n${shown}\n${fence}${rest}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
}
