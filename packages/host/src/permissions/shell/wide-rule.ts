import { type Rule, UNKNOWN } from "../match.ts";
import { COMMAND, formatRule } from "../rule.ts";
import { allParts } from "./part.ts";
import { readShellCommand } from "./script.ts";
import { namesInput, programOf } from "./wrapper.ts";

/** Returns whether a program with these arguments runs commands from its standard input. */
type TakesCommands = (words: readonly string[]) => boolean;

const INTERPRETERS =
  /^(?:(?:ba|da|z|k|mk|a|fi)?sh|python[\d.]*|node|bun|ruby|perl|php|lua|Rscript|tclsh|osascript|gdb|ed)$/;

/** True without a script, code, module or informational option. */
const interprets: TakesCommands = (words) =>
  isInput(operands(words)[0]) && !words.some((word) => /^-\w*[cemr]$|^-[vVhi]$|^--\w/.test(word));
const without =
  (elsewhere: RegExp): TakesCommands =>
  (words) =>
    !words.some((word) => elsewhere.test(word));
/** The first operand is the database or the host, the second the commands. */
const afterTarget: TakesCommands = (words) => isInput(operands(words)[1]);
const inContainer: TakesCommands = (words) =>
  /^(?:exec|run)$/.test(operands(words)[0] ?? "") &&
  words.some((word) => /^(?:-\w*i|--interactive|--stdin)/.test(word));
const asFile: TakesCommands = (words) => words.some((word) => word === "-" || namesInput(word));

/** Programs other than interpreters that take commands from standard input. */
const CLIENTS: Readonly<Record<string, TakesCommands>> = {
  at: without(/^-[flrc]/),
  batch: without(/^-f/),
  crontab: asFile,
  docker: inContainer,
  kubectl: inContainer,
  make: asFile,
  mariadb: without(/^(?:-e|--execute)/),
  mysql: without(/^(?:-e|--execute)/),
  parallel: without(/^:::/),
  podman: inContainer,
  psql: without(/^(?:-c|-f|-l|--(?:command|file|list))/),
  sqlite3: afterTarget,
  ssh: afterTarget,
  xargs: without(/^(?:-a|--arg-file)/),
};

/** Returns whether a program with these words runs commands from its standard input. */
export function takesCommands(words: readonly string[]): boolean {
  const program = programOf(words);
  const takes = INTERPRETERS.test(program) ? interprets : Object.hasOwn(CLIENTS, program) && CLIENTS[program];
  return takes ? takes(words.slice(1)) : false;
}

function operands(words: readonly string[]): string[] {
  return words.filter((word) => !word.startsWith("-") || word === "-");
}

/** True if the operand is missing, unknown, or the standard input. */
function isInput(operand: string | undefined): boolean {
  return operand === undefined || operand === "-" || operand === UNKNOWN || namesInput(operand);
}

/** Returns a sentence for each rule that allows a program with any standard input, as older answers did (S33). */
export function wideRuleNotices(rules: readonly Rule[]): string[] {
  return rules
    .filter(isWide)
    .map(
      (rule) =>
        `The rule '${formatRule(rule)}' no longer allows standard input, because the input may contain commands. Remove the rule, or name a file with the commands in the rule.`,
    );
}

function isWide({ tool, pattern }: Rule): boolean {
  if (tool !== COMMAND || pattern === undefined || pattern === "*") return false;
  return [...allParts(readShellCommand(pattern))].some((part) => part.kind === "command" && takesCommands(part.words));
}
