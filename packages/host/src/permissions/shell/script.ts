import {
  type Assignment,
  type Command,
  type CompoundList,
  type Elif,
  type HereDoc,
  type Pipeline,
  parse,
  type Redirection,
  type Statement,
  type TestExpression,
  type Word,
} from "unbash";
import { UNKNOWN } from "../match.ts";
import { coversSource, type SourceSpan } from "./coverage.ts";
import type { CommandPart, RedirectPart, ShellPart } from "./part.ts";
import { beyondWords, type Findings, noFindings, readArithmetic, readHereDocument, readWord, unclear } from "./word.ts";
import { type StandardInput, wrappedCommands } from "./wrapper.ts";

/** Longer or more deeply nested scripts are not parsed, so that the user decides. */
const MOST_CHARACTERS = 32_768;
const MOST_NESTED = 16;

interface Scan {
  readonly source: string;
  readonly depth: number;
  readonly parts: ShellPart[];
  readonly leaves: SourceSpan[];
  readonly found: Findings;
}

/**
 * Splits a shell command (S7) into simple commands and redirected files at any depth, including those in substitutions,
 * here-documents, functions and commands that run other commands. An unclear piece becomes an opaque part. The text may
 * run in Bash or in a POSIX shell.
 */
export function readShellCommand(command: string): readonly ShellPart[] {
  const found = noFindings();
  const parts = readScript(command, 0, found);
  // `x='a[$(rm y)]'; echo $((x))` runs rm: a script with both quoted code and an evaluation is unclear.
  if (found.quotedCode && found.evaluates)
    parts.push({ kind: "opaque", text: command, why: "it evaluates text that may hold a command" });
  return parts;
}

function readScript(source: string, depth: number, outer: Findings): ShellPart[] {
  const reading: Scan = { source, depth, parts: [], leaves: [], found: noFindings() };
  const { found } = reading;
  if (source.length > MOST_CHARACTERS || depth > MOST_NESTED) unclear(found, "it is too long or nested too deeply");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Bash takes some for blanks, the parser others.
  else if (/[\0-\x08\x0b-\x1f\x7f]/.test(source)) unclear(found, "it contains control characters");
  else {
    try {
      const script = parse(source);
      readScriptNodes(script.commands, reading);
      if (script.errors !== undefined) unclear(found, script.errors[0]?.message ?? "it is not complete");
      else if (!coversSource(source, reading.leaves)) unclear(found, "not all of it is understood");
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // The parser is recursive, as is Bash. No honest command overflows the stack.
      unclear(found, "it is nested too deeply");
    }
  }
  outer.quotedCode ||= found.quotedCode;
  outer.evaluates ||= found.evaluates;
  for (const script of found.scripts) reading.parts.push(...readScript(script, depth + 1, outer));
  if (found.connects) {
    // The parser does not track which command reads which output: any may read any.
    feed(reading.parts, [...reading.parts]);
    takeInput(reading.parts);
  }
  if (found.beyondWords !== undefined) reading.parts.push({ kind: "evaluation", text: source, why: found.beyondWords });
  if (found.unclear !== undefined) reading.parts.push({ kind: "opaque", text: source, why: found.unclear });
  return reading.parts;
}

type Readable = Statement | CompoundList | Elif | Statement["command"];

function readScriptNodes(nodes: readonly Readable[], reading: Scan): void {
  for (const node of nodes) readNode(node, reading);
}

/** Node types that need no question: plain words, and what joins them (S18). */
const JOINED: ReadonlySet<Readable["type"]> = new Set(["Command", "Statement", "Pipeline", "AndOr"]);

function readNode(node: Readable, reading: Scan): void {
  if (!JOINED.has(node.type)) beyondWords(reading.found, "it is more than commands joined by &&, ||, ; and |");
  switch (node.type) {
    case "Command":
      return readSimpleCommand(node, reading);
    case "Statement":
      if (node.background) beyondWords(reading.found, "it leaves something in the background");
      return readNode(node.command, reading);
    case "Pipeline":
      return readPipeline(node, reading);
    case "AndOr":
    case "CompoundList":
      return readScriptNodes(node.commands, reading);
    case "Subshell":
    case "BraceGroup":
      return readScriptNodes(node.body.commands, reading);
    case "Redirected": {
      const start = reading.parts.length;
      readNode(node.command, reading);
      const inside = reading.parts.slice(start);
      const input = readRedirects(node.redirects, reading);
      if (input.kind !== "none") takeInput(inside);
      // Any command of the group may read the text.
      if (input.kind === "text")
        reading.parts.push({
          kind: "evaluation",
          reads: true,
          text: input.source,
          why: "a group of commands reads a text",
        });
      return;
    }
    case "If":
      return readScriptNodes([node.clause, node.then, ...node.elif, ...(node.else ? [node.else] : [])], reading);
    case "Elif":
      return readScriptNodes([node.clause, node.then], reading);
    case "While":
      return readScriptNodes([node.clause, node.body], reading);
    case "For":
    case "Select":
      // A loop sets its variable, and upper-case variables (PATH, IFS) change what commands do.
      if (!/^[a-z_]\w*$/.test(leaf(node.name, reading))) unclear(reading.found, `a loop sets ${node.name.text}`);
      for (const word of node.wordlist ?? []) leaf(word, reading);
      return readNode(node.body, reading);
    case "Case":
      leaf(node.word, reading);
      for (const item of node.items) {
        for (const pattern of item.pattern) leaf(pattern, reading);
        readNode(item.body, reading);
      }
      return;
    case "Function":
      leaf(node.name, reading);
      return readNode(node.body, reading);
    case "TestCommand":
      return readTest(node.expression, reading);
    case "ArithmeticCommand":
      reading.leaves.push({ pos: node.pos, end: node.end, kind: "word" });
      return readArithmetic(reading.source.slice(node.pos + 2, node.end - 2), reading.found);
    case "ArithmeticFor":
      reading.found.evaluates = true;
      unclear(reading.found, "loops over arithmetic are not read");
      return readNode(node.body, reading);
    case "Coproc":
      unclear(reading.found, "coprocesses are not read");
      return readNode(node.body, reading);
  }
}

function readPipeline(node: Pipeline, reading: Scan): void {
  const { leaves, parts, found } = reading;
  if (node.prefixes.length > 0) beyondWords(found, "it has a word of the shell in front");
  for (const prefix of node.prefixes) leaves.push({ pos: prefix.pos, end: prefix.end, kind: "word" });
  const starts = node.commands.map((command) => {
    const start = parts.length;
    readNode(command, reading);
    return start;
  });
  for (const [stage, start] of starts.entries()) {
    const end = starts[stage + 1];
    if (end === undefined) break;
    const behind = parts.slice(end);
    feed(parts.slice(start, end), behind);
  }
  takeInput(parts.slice(starts[1] ?? parts.length));
}

/** In `{ a | b; } | c`, the output of `a` reaches `b` and `c`. */
function feed(commands: readonly ShellPart[], behind: readonly ShellPart[]): void {
  for (const part of commands)
    if (part.kind === "command") part.feeds = part.feeds === undefined ? behind : [...part.feeds, ...behind];
}

function takeInput(parts: readonly ShellPart[]): void {
  for (const part of parts) if (part.kind === "command") part.hasInput = true;
}

function readSimpleCommand(node: Command, reading: Scan): void {
  reading.found.splits = false;
  const assignments: string[] = [];
  for (const prefix of node.prefix) if (prefix.type === "Assignment") assignments.push(readAssignment(prefix, reading));
  const words = node.name ? [leaf(node.name, reading)] : [];
  for (const word of node.args)
    words.push(word.type === "Assignment" ? readAssignment(word, reading) : leaf(word, reading));
  const input = readRedirects(node.redirects, reading);
  // A redirect without a command only opens its file.
  if (words.length > 0 || assignments.length > 0) reading.parts.push(commandPart(words, assignments, input, reading));
}

/** `nested`: the number of commands around it. */
function commandPart(
  words: readonly string[],
  assignments: readonly string[],
  input: StandardInput,
  reading: Scan,
  nested = 0,
): CommandPart {
  noteBuiltin(words, assignments, reading.found);
  return {
    kind: "command",
    words,
    assignments,
    splits: reading.found.splits,
    input: input.kind === "text" ? input.source : undefined,
    hasInput: input.kind !== "none",
    feeds: undefined,
    runs: runsIn(words, input, reading, nested),
  };
}

function runsIn(words: readonly string[], input: StandardInput, reading: Scan, nested: number): CommandPart["runs"] {
  const runs = wrappedCommands(words, input);
  if (runs === undefined) return undefined;
  if (nested > MOST_NESTED)
    return { parts: [{ kind: "opaque", text: words.join(" "), why: "it is nested too deeply" }] };
  const parts: ShellPart[] = runs.files.map((path): RedirectPart => ({ kind: "file", access: "write", path }));
  for (const inner of runs.commands) {
    parts.push(
      commandPart(
        inner.words,
        inner.assignments,
        inner.at === undefined ? { kind: "none" } : input,
        reading,
        nested + 1,
      ),
    );
  }
  for (const code of runs.code) {
    if (code === UNKNOWN)
      parts.push({ kind: "opaque", text: words.join(" "), why: "the commands that it runs are not known" });
    else parts.push(...readScript(code, reading.depth + 1, reading.found));
  }
  const [only, ...others] = runs.commands;
  const at = only && others.length === 0 && parts.length === 1 ? only.at : undefined;
  return at === undefined ? { parts } : { parts, at };
}

function readAssignment(node: Assignment, reading: Scan): string {
  reading.leaves.push({ pos: node.pos, end: node.end, kind: "word" });
  const raw = reading.source.slice(node.pos, node.end);
  const name = /^[A-Za-z_]\w*\+?=/.exec(raw)?.[0];
  const { value, index } = node;
  if (
    name === undefined ||
    index !== undefined ||
    value.type === "ArrayValue" ||
    value.pos !== node.pos + name.length ||
    value.end !== node.end
  ) {
    unclear(reading.found, `'${raw}' is not a plain assignment`);
    return raw;
  }
  return name + readWord(value, reading.source, reading.found);
}

/** Returns the command's input. */
function readRedirects(redirects: readonly Redirection[], reading: Scan): StandardInput {
  const { source, found, parts, leaves } = reading;
  let input: StandardInput = { kind: "none" };
  for (const redirect of redirects) {
    leaves.push({ pos: redirect.pos, end: redirect.end, kind: "redirect" });
    if (redirect.descriptor?.type === "FileDescriptorVariable" || source[redirect.pos] === "{")
      beyondWords(found, "a redirect sets a variable");
    if (redirect.type === "HereDoc") {
      input = both(input, readDocument(redirect, reading));
      continue;
    }
    const { operator, target } = redirect;
    if (target === undefined) {
      unclear(found, "a redirect has no file");
      continue;
    }
    const raw = source.slice(target.pos, target.end);
    if ((operator === ">&" || operator === "<&") && /^(?:\d+-?|-)$/.test(raw)) continue;
    const value = readWord(target, source, found);
    if (operator === "<<<") {
      input = both(input, { kind: "text", text: value.includes(UNKNOWN) ? UNKNOWN : value, source: value });
      continue;
    }
    if (operator.startsWith("<") && value !== "/dev/null") input = both(input, { kind: "file" });
    if (!/^[<>]\(/.test(raw))
      parts.push({ kind: "file", access: operator === "<" ? "read" : "write", path: filePath(raw, value) });
  }
  return input;
}

/** A command may read any of several inputs. */
function both(before: StandardInput, next: StandardInput): StandardInput {
  if (before.kind === "none") return next;
  const source = [before, next].map((input) => (input.kind === "text" ? input.source : "")).join("\n");
  return { kind: "text", text: UNKNOWN, source };
}

function readDocument({ operator, delimiter, body, closing }: HereDoc, { source, found, leaves }: Scan): StandardInput {
  const closed =
    closing && source.slice(closing.pos, closing.end) === delimiter?.value && (source[closing.end] ?? "\n") === "\n";
  // Other shells may end a here-document with unusual quotes elsewhere, and run the rest.
  if (
    !closed ||
    !/^(?:[\w.-]+|'[\w.-]+'|"[\w.-]+"|\\[\w.-]+)$/.test(delimiter.text) ||
    delimiter.quoted === /^[\w.-]+$/.test(delimiter.text)
  ) {
    unclear(found, "the end of a here-document is not certain");
    return { kind: "text", text: UNKNOWN, source: source.slice(body.pos, body.end) };
  }
  leaves.push({ pos: body.pos, end: closing.end, kind: "document" });
  const raw = source.slice(body.pos, body.end);
  if (!delimiter.quoted) readHereDocument(raw, body.parts, found);
  else if (raw.includes("$(") || raw.includes("`")) found.quotedCode = true;
  const text = operator === "<<-" ? raw.replace(/^\t+/gm, "") : raw;
  return { kind: "text", text: delimiter.quoted || !/[$`\\]/.test(text) ? text : UNKNOWN, source: raw };
}

/** A tilde only counts without quotes. */
function filePath(raw: string, value: string): string | undefined {
  if (value.includes(UNKNOWN) || value === "") return undefined;
  if (!value.startsWith("~")) return value;
  if (raw[0] !== "~") return `./${value}`;
  return value === "~" || value.startsWith("~/") ? value : undefined;
}

function readTest(node: TestExpression, reading: Scan): void {
  const { source, leaves, found } = reading;
  switch (node.type) {
    case "TestUnary":
      if (node.operand.pos > node.pos)
        leaves.push({ pos: node.pos, end: node.pos + node.operator.length, kind: "word" });
      if (node.operator === "-v" || node.operator === "-R") found.evaluates = true;
      leaf(node.operand, reading);
      return;
    case "TestBinary": {
      leaf(node.left, reading);
      leaf(node.right, reading);
      const pos = source.indexOf(node.operator, node.left.end);
      leaves.push({ pos, end: pos + node.operator.length, kind: "word" });
      if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) found.evaluates = true;
      return;
    }
    case "TestLogical":
      for (const operand of node.operands) readTest(operand, reading);
      return;
    case "TestNot":
      return readTest(node.operand, reading);
    case "TestGroup":
      return readTest(node.expression, reading);
  }
}

function leaf(word: Word, reading: Scan): string {
  reading.leaves.push({ pos: word.pos, end: word.end, kind: "word" });
  return readWord(word, reading.source, reading.found);
}

/** Builtins that evaluate subscripts in their arguments, or set a variable by name. */
const EVALUATING: ReadonlySet<string> = new Set(
  "let declare typeset local export readonly unset read mapfile readarray getopts wait".split(" "),
);
/** Builtins that may change the meaning of later words: by variables, functions or aliases. */
const SETTING: ReadonlySet<string> = new Set(
  ". alias bind compgen complete compopt enable eval exec fc hash history shift shopt source trap unalias".split(" "),
);
/** A POSIX shell keeps assignments before these builtins. */
const SPECIAL: ReadonlySet<string> = new Set(
  ": . break continue eval exec exit export readonly return set shift times trap unset".split(" "),
);

/** Records what a simple command evaluates, or sets for later commands. */
function noteBuiltin(words: readonly string[], assignments: readonly string[], found: Findings): void {
  const [name = "", first] = words;
  const tests =
    (name === "test" || name === "[") &&
    words.some((word, at) => at > 0 && (/^-[vR]/.test(word) || word.includes(UNKNOWN)));
  if (EVALUATING.has(name) || tests) found.evaluates = true;
  if (found.evaluates || SETTING.has(name)) beyondWords(found, `${name} can set or evaluate something`);
  if (name === "set" && !isStrictness(words.slice(1))) beyondWords(found, "set can change what later words mean");
  if (assignments.length > 0 && (words.length === 0 || SPECIAL.has(name)))
    beyondWords(found, "it sets a variable for what follows");
  if (words.length > 0 && name !== "[" && !/^[\w@%+:,./^-]+$/.test(name))
    beyondWords(found, "the name of a command is not plain");
  if (name === "printf" && first !== undefined && (first.startsWith("-v") || first.startsWith(UNKNOWN))) {
    found.evaluates = true;
    unclear(found, "printf may set a variable");
  }
}

/** Only sets when a script ends: `set -e`, `set -euo pipefail`. */
function isStrictness(words: readonly string[]): boolean {
  return words.length > 0 && /^(?:[-+][eux]+|[-+][eux]*o pipefail|\s)+$/.test(words.join(" "));
}
