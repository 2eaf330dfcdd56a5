import { nearest } from "@banyan/core/shown";
import { adviceOnName, isAbsentTool, isToolName, knownNames } from "../permissions/tool-names.ts";
import type { HookEvent } from "./hook-event.ts";

/** A parsed matcher. It decides for which calls or events a hook runs. */
export interface Matcher {
  /** Returns whether one of the names matches; always true for events without matchers. */
  isFor(names: readonly string[]): boolean;
  /** An example of a match. Absent if the matcher can match only things that Banyan does not have. */
  readonly example?: string;
  /** A sentence for each part that matches nothing here. */
  readonly notices: readonly string[];
}

/** Events about a call. For these, a hook's matcher names a tool, and `if` contains a rule. */
export const ofTools: ReadonlySet<HookEvent> = new Set(["PreToolUse", "PermissionRequest", "PostToolUse"]);

/** Names in matchers of other events: valid here, and valid only in other programs. */
const OTHERS: Readonly<Partial<Record<HookEvent, { readonly here: string[]; readonly elsewhere: string[] }>>> = {
  SessionStart: { here: ["startup", "resume", "compact"], elsewhere: ["clear", "fork"] },
  SessionEnd: { here: ["other"], elsewhere: ["clear", "resume", "logout", "prompt_input_exit"] },
  PreCompact: { here: ["auto", "manual"], elsewhere: [] },
  PostCompact: { here: ["auto", "manual"], elsewhere: [] },
  Notification: {
    here: ["permission_prompt", "elicitation_dialog", "idle_prompt"],
    elsewhere: [
      ...["auth_success", "elicitation_url_dialog", "elicitation_complete", "elicitation_response"],
      ...["agent_needs_input", "agent_completed"],
      ...["quota_auto_resume_fired", "quota_auto_resume_stale", "quota_auto_resume_disabled"],
    ],
  },
};

/** Events whose matcher is ignored, as in Claude Code and codex. */
const NAMELESS: ReadonlySet<HookEvent> = new Set(["UserPromptSubmit", "Stop"]);

const ALL: Matcher = { isFor: () => true, example: "*", notices: [] };

/**
 * Parses a matcher as Claude Code and codex do: whole names, separated by `|` or `,`, or a regular expression for a
 * part of a name. Returns a problem with advice for a matcher that can match nothing (S34).
 */
export function readMatcher(event: HookEvent, text: string): Matcher | string {
  if (text === "" || text === "*") return ALL;
  if (NAMELESS.has(event))
    return { ...ALL, notices: [`The matcher '${text}' has no effect: hooks of the event ${event} always run.`] };
  const isList = /^[\w\s,|-]+$/.test(text);
  const names = isList ? text.split(/[|,]/).map((part) => part.trim()) : [];
  const pattern = isList ? undefined : regularExpression(text);
  if (!isList && pattern === undefined)
    return `'${text}' is neither a regular expression nor a list of names such as 'Edit|Write'`;
  const vocabulary = vocabularyOf(event);
  const fits = (candidates: readonly string[]) =>
    candidates.length === 0 ||
    candidates.some((name) => (pattern === undefined ? names.includes(name) : pattern.test(name)));
  // Agents can have any name.
  if (vocabulary === undefined) return { isFor: fits, example: names[0] ?? text, notices: [] };
  const parts = (isList ? names : alternativesOf(text)).map((part) => ({
    part,
    ...(isList ? readName(part, vocabulary) : readPattern(part, vocabulary)),
  }));
  const example = parts.find((one) => one.example !== undefined)?.example;
  const wrong = parts.find(({ problem, isElsewhere }) => problem !== undefined && !isElsewhere);
  if (example === undefined && wrong !== undefined) return `'${wrong.part}' ${wrong.problem}`;
  return {
    isFor: fits,
    ...(example !== undefined && { example }),
    notices: parts.flatMap(({ part, problem }) =>
      problem === undefined
        ? []
        : [part === text ? `The matcher '${part}' ${problem}.` : `In the matcher '${text}', '${part}' ${problem}.`],
    ),
  };
}

/** A name in a matcher, or an alternative of a regular expression. */
interface MatcherPart {
  readonly example?: string;
  /** The reason why the part matches nothing here, with advice, as the end of a sentence. */
  readonly problem?: string;
  readonly isElsewhere?: boolean;
}

const ELSEWHERE: MatcherPart = {
  problem: "names only tools of other programs, and matches nothing here",
  isElsewhere: true,
};

function readName(name: string, { isName, isElsewhere, advice }: Vocabulary): MatcherPart {
  if (isElsewhere(name)) return ELSEWHERE;
  return isName(name) ? { example: name } : { problem: `matches nothing; ${advice(name)}` };
}

function readPattern(text: string, { names, isTools, isElsewhere, advice }: Vocabulary): MatcherPart {
  const [, called = "", argument = ""] = /^\^?([\w-]+)\((.+)\)\$?$/s.exec(text) ?? [];
  if (isTools && isToolName(called) && !/^[\w|?.*+-]*$/.test(argument))
    return {
      problem: `is a call, and a matcher names tools; write the matcher '${called}' and "if": "${text}" next to the command`,
    };
  const pattern = regularExpression(text);
  const fitting = [...names, ...(isTools ? offeredNames(text) : [])].filter((name) => pattern?.test(name));
  const example = fitting.find((name) => !isElsewhere(name));
  if (example !== undefined) return { example };
  return fitting.length > 0 ? ELSEWHERE : { problem: `matches nothing; ${advice(text.replace(/\W+/g, ""))}` };
}

/** Splits at each `|` outside brackets. */
function alternativesOf(text: string): readonly string[] {
  const parts = [""];
  let depth = 0;
  for (const piece of text.match(/\\.|[\s\S]/g) ?? []) {
    if (piece === "(" || piece === "[") depth += 1;
    else if (piece === ")" || piece === "]") depth -= 1;
    if (piece === "|" && depth === 0) parts.push("");
    else parts[parts.length - 1] += piece;
  }
  return parts;
}

interface Vocabulary {
  readonly isTools: boolean;
  isName(name: string): boolean;
  isElsewhere(name: string): boolean;
  readonly names: readonly string[];
  /** The end of a sentence about an unknown name. */
  advice(name: string): string;
}

/** Undefined if every name is possible, or none. */
function vocabularyOf(event: HookEvent): Vocabulary | undefined {
  if (ofTools.has(event)) {
    const names = [...knownNames, ...ABSENT_EXAMPLES];
    return { isTools: true, isName: isToolName, isElsewhere: isAbsentTool, names, advice: adviceOnName };
  }
  const { here, elsewhere } = OTHERS[event] ?? {};
  if (!here || !elsewhere) return undefined;
  const names = [...here, ...elsewhere];
  const advice = (name: string) => {
    const near = nearest(name, here);
    return near.length > 0 ? `you may mean '${near.join("' or '")}'` : `it can be ${here.join(", ")}`;
  };
  return {
    isTools: false,
    isName: (name) => names.includes(name),
    isElsewhere: (name) => elsewhere.includes(name),
    names,
    advice,
  };
}

/** Tools of other programs that regular expressions may name. */
const ABSENT_EXAMPLES = ["NotebookEdit", "NotebookRead", "ExitPlanMode", "TaskCreate"];

/** Without `mcp` and a leading wildcard, an expression means our own tools. */
function offeredNames(text: string): readonly string[] {
  if (!/mcp|^\^?\(*\./.test(text)) return [];
  const word = describedBy(text);
  const names = [
    word,
    `${word}x`,
    `${word}__x`,
    `${word}x__x`,
    `mcp__x__${word}`,
    `mcp__${word}__x`,
    `mcp__x__x${word}x`,
  ];
  return names.filter((name) => /^mcp__.+?__.+$/.test(name));
}

/** An example for a simple expression: each repeated piece once, and the first of alternatives. */
function describedBy(text: string): string {
  return text
    .replace(/\(\??:?([^()|]*)\|[^()]*\)/g, "$1")
    .replace(
      /\\([wWdDsSbB])|\\(.)|\[([^\]])[^\]]*\]|\{[^}]*\}|[.^$()?*+]/g,
      (piece, kind?: string, escaped?: string, first?: string) => {
        if (escaped !== undefined) return escaped;
        if (first !== undefined) return first === "^" ? "x" : first;
        return piece === "." || kind === "w" || kind === "S" ? "x" : kind === "d" ? "1" : "";
      },
    );
}

function regularExpression(text: string): RegExp | undefined {
  try {
    return new RegExp(text);
  } catch {
    return undefined;
  }
}
