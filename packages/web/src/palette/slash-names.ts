import { t } from "../phrases/phrases.ts";

/** A name that is written behind a slash. */
export interface SlashName {
  /** What other programs call it. */
  readonly also?: readonly string[];
  /** What may stand behind it. */
  readonly takes?: string;
  /** Why it is done elsewhere, and where: a sentence. */
  readonly elsewhere?: string;
}

/**
 * Every command of the terminal by the names that it has there, and `stop`, for which the terminal has a key (W65). One that
 * is not done elsewhere is an action of some part of the page, which the palette offers too.
 */
export const SLASH_NAMES = {
  help: {},
  clear: { also: ["new"] },
  stop: {},
  retry: { takes: t("[text]") },
  resume: { also: ["chat", "sessions"] },
  mode: { takes: "[chat | task]" },
  model: { also: ["models"], takes: "[name[:effort]]" },
  approval: { also: ["permissions", "approvals"], takes: "[plan | ask | edits]" },
  review: { takes: "[branch | commit | a..b]" },
  findings: { takes: "[n]" },
  init: { takes: t("[what matters]") },
  compact: { also: ["compress"], takes: t("[what to keep]") },
  changes: { also: ["diff"] },
  undo: {},
  branch: { also: ["fork"] },
  fan: { takes: "[times | models] text" },
  compare: {},
  bring: { elsewhere: t("“Bring it over” stands beside each branch in the panel Compare: /compare.") },
  worktree: { takes: "[name]" },
  worktrees: {},
  tree: { also: ["rewind"] },
  transcript: {},
  label: { takes: t("[name]") },
  star: {},
  restore: {},
  title: { also: ["rename"], takes: t("[text]") },
  usage: { also: ["cost", "stats", "tokens"] },
  context: {},
  waiting: {},
  processes: { also: ["bashes", "ps", "tasks"] },
  config: { also: ["settings"] },
  export: {},
  share: { elsewhere: t("“Share” stands in the menu of the conversation, at the top.") },
  keys: {},
  plan: { also: ["todos"] },
  status: {
    elsewhere: t("The model stands below the message box, what this took in the header, and the rest in the settings."),
  },
  copy: {
    elsewhere: t(
      "“Copy the text” stands below each message, when you point at it or go to it with Tab. A block of code has a button of its own.",
    ),
  },
  edit: { elsewhere: t("“Edit” stands below each message, when you point at it or go to it with Tab.") },
  remove: {
    elsewhere: t("“Remove this message” stands below each message, when you point at it or go to it with Tab."),
  },
  memory: {},
  agents: {},
  mcp: {},
  hooks: {},
  exit: { also: ["quit"], elsewhere: t("Close the tab to leave: the conversation stays, and what runs goes on.") },
} as const satisfies Readonly<Record<string, SlashName>>;

/** A command that is written with a slash. */
export type SlashCommandName = keyof typeof SLASH_NAMES;

/** The command of a name, or of one that other programs have for it; capital letters count as small ones. */
export function slashNamed(word: string): SlashCommandName | undefined {
  const wanted = word.toLowerCase();
  const all = Object.entries(SLASH_NAMES) as [SlashCommandName, SlashName][];
  return all.find(([name, { also = [] }]) => name === wanted || also.includes(wanted))?.[0];
}

/** All words that are a command. */
export const SLASH_WORDS: readonly string[] = Object.entries(
  SLASH_NAMES as Readonly<Record<string, SlashName>>,
).flatMap(([name, { also = [] }]) => [name, ...also]);
