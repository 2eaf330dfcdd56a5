import { type Call, type FileChange, isEnded, isUserMessage, type Message } from "../conversation/message.ts";
import { toolNameOf } from "../conversation/offered-tool.ts";
import { formatCount } from "../conversation/shown/amounts.ts";
import { attachmentsOf } from "../conversation/shown/kept-words.ts";
import { planOnPath, shownPlan } from "../conversation/shown/shown-plan.ts";
import { cutTo, visibleLine } from "../conversation/shown/visible-text.ts";
import type { ConversationState, FollowingCall, OpenQuestion } from "../conversation/state.ts";
import { hasOpenQuestion } from "../conversation/tree/asking-run.ts";
import { callIn } from "../conversation/tree/call-state.ts";
import { newestLeaf, pathTo, processesOf, worktreeAt } from "../conversation/tree/path.ts";

const LONGEST = 200;

const HEADINGS = {
  plan: "Plan:",
  editing: "Files that wait for your next message:",
  processes: "Running in the background:",
  agents: "Sub-agents without a result:",
  questions: "Questions that the user has not answered:",
  files: "Files that the agent used. The most recent file is the last one:",
  attachments: "Files that the user attached:",
} as const;

type Section = keyof typeof HEADINGS;
const SECTIONS = Object.keys(HEADINGS) as Section[];

const FIRST = "The program recorded this when the summary was made.";

/** A section: its lines, oldest first, and the number of entries without a line. */
interface Lines {
  readonly lines: readonly string[];
  readonly unlisted: number;
}

export type WorkState = Readonly<Record<Section, Lines>>;

/**
 * Returns the plan, files, processes and other facts of a branch (F87). `before`: the text that the last summary kept.
 */
export function workStateOf(state: ConversationState, path: readonly Message[], before = ""): WorkState {
  const known = readBlock(before);
  const here = new Set<string | null>(path.map(({ id }) => id));
  const on = <Item extends { readonly message: string | null }>(items: ReadonlyMap<string, Item>) =>
    [...items.values()].filter(({ message }) => here.has(message));
  const calls = path.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  const launching = calls.filter(({ id, status }) => !isEnded(status) && state.children.has(id));
  const running = processesOf(state, path).filter(({ outcome }) => outcome === undefined);
  const attached = path.filter(isUserMessage).flatMap(attachmentsOf).map(listItem);
  const plan = planOnPath(path);
  return {
    plan: plan ? allLines(shownPlan(plan).map(({ mark, text }) => `${mark} ${cutTo(text, LONGEST)}`)) : known.plan,
    editing: allLines(on(state.following).map((call) => listItem(followingLine(state, call)))),
    processes: allLines(running.map(({ id, title }) => listItem(`${id}: ${title}`))),
    agents: allLines(launching.map((call) => listItem(agentLine(state, call)))),
    questions: allLines(on(state.questions).map((question) => listItem(questionLine(state, question)))),
    files: { ...known.files, lines: usedFiles(state, path, known.files.lines) },
    attachments: { ...known.attachments, lines: [...new Set([...known.attachments.lines, ...attached])] },
  };
}

/**
 * Formats the lines of `work` as one text for the model. Leaves out `left` lines and gives their number instead: first
 * files that were read, other files and attachments, oldest first, then done steps of the plan, then other lines.
 */
export function stateBlock(work: WorkState, left = 0): string {
  const gone = new Set(leavingOrder(work).slice(0, left));
  const sections = SECTIONS.flatMap((section) => {
    const { lines, unlisted } = work[section];
    const shown = lines.filter((_, index) => !gone.has(lineKey(section, index)));
    const missing = unlisted + lines.length - shown.length;
    if (shown.length === 0 && missing === 0) return [];
    return [HEADINGS[section], ...(missing > 0 ? [`(${formatCount(missing)} more not listed)`] : []), ...shown];
  });
  return sections.length === 0 ? "" : [FIRST, ...sections].join("\n");
}

export function countDroppableLines(work: WorkState): number {
  return SECTIONS.reduce((sum, section) => sum + work[section].lines.length, 0);
}

function lineKey(section: Section, index: number): string {
  return `${section} ${index}`;
}

/** Keys of all lines, in the order in which they are left out. */
function leavingOrder(work: WorkState): string[] {
  const split = (section: Section, isFirst: RegExp) => {
    const [first, then] = [true, false].map((wanted) =>
      work[section].lines.flatMap((line, index) => (isFirst.test(line) === wanted ? [lineKey(section, index)] : [])),
    ) as [string[], string[]];
    return { first, then };
  };
  const files = split("files", /^- read /);
  const plan = split("plan", /^\[x\]/);
  const others = (["agents", "questions", "processes", "editing"] as const).flatMap(
    (section) => split(section, /^/).first,
  );
  return [
    ...files.first,
    ...files.then,
    ...split("attachments", /^/).first,
    ...plan.first,
    ...plan.then.reverse(),
    ...others,
  ];
}

/** Reads the lines of a block written by `stateBlock`; none for any other text. */
function readBlock(block: string): WorkState {
  const sections = Object.fromEntries(SECTIONS.map((section) => [section, { lines: [] as string[], unlisted: 0 }]));
  const known = sections as Record<Section, { lines: string[]; unlisted: number }>;
  let section: Section | undefined;
  for (const line of block.startsWith(FIRST) ? block.split("\n") : []) {
    section = SECTIONS.find((name) => HEADINGS[name] === line) ?? section;
    const [, count] = /^\(([\d,]+) more not listed\)$/.exec(line) ?? [];
    if (section === undefined) continue;
    if (count !== undefined) known[section].unlisted = Number(count.replaceAll(",", ""));
    else if (/^(- |\[)/.test(line)) known[section].lines.push(line);
  }
  return known;
}

function allLines(lines: readonly string[]): Lines {
  return { lines, unlisted: 0 };
}

function listItem(text: string): string {
  return `- ${cutTo(visibleLine(text), LONGEST)}`;
}

function followingLine(state: ConversationState, following: FollowingCall): string {
  const call = callIn(state, following);
  const paths = call?.about?.paths?.map(({ path }) => path) ?? [];
  return [...paths, `(${call ? toolNameOf(call) : "call"})`].join(" ");
}

function agentLine(state: ConversationState, call: Call): string {
  const works = state.runs.values().some((run) => run.call === call.id);
  const stands = hasOpenQuestion(state, call.id) ? "waits for the user" : works ? "works" : "was stopped";
  return `${call.about?.agent ?? toolNameOf(call)} ${stands}: ${call.about?.title ?? call.inputText}`;
}

function questionLine(state: ConversationState, question: OpenQuestion): string {
  if (question.type === "text") return question.text;
  if (question.type === "limit") return question.reason;
  const call = callIn(state, question);
  const title = call?.about?.title ?? call?.about?.command;
  return `May ${call ? toolNameOf(call) : "a call"} run${title === undefined ? "" : ` (${title})`}?`;
}

/** Digests identify contents; `null` means no file. */
interface KnownFile {
  readonly first: string | null;
  last: string | null;
  isChanged: boolean;
  isRead: boolean;
}

/** Files changed by calls or sub-agents, and files read by the branch's calls; last used last. */
function usedFiles(state: ConversationState, path: readonly Message[], before: readonly string[]): string[] {
  const files = new Map<string, KnownFile>(before.flatMap(readFileLine));
  const use = (name: string, content: string | null) => {
    const file = files.get(name) ?? { first: content, last: content, isChanged: false, isRead: false };
    files.delete(name);
    files.set(name, file);
    return file;
  };
  const here = worktreeAt(state, path.at(-1)?.id);
  for (const { call, message, isOwn } of callsOn(state, path)) {
    for (const { path: file, digest } of (isOwn && call.seen) || []) {
      const known = use(visibleLine(file), digest);
      // A command that leaves new content has changed the file.
      if (call.about?.command === undefined) known.isRead ||= digest !== null;
      else known.isChanged ||= known.last !== digest;
      known.last = digest;
    }
    for (const change of call.changes ?? []) {
      const place = isOwn ? here : worktreeAt(state, message);
      const elsewhere = place === undefined || place === here ? "" : ` (in the worktree ${place})`;
      const known = use(visibleLine(change.path + elsewhere), change.before);
      known.isChanged = true;
      known.last = change.after;
    }
  }
  return [...files].flatMap(([name, file]) => {
    const kind = fileChangeKind(file);
    return kind === undefined ? [] : [`- ${kind} ${name}`];
  });
}

/** Yields the calls of a path and of the sub-agents that they launched, in order. */
function* callsOn(
  state: ConversationState,
  path: readonly Message[],
  isOwn = true,
): Generator<{ readonly call: Call; readonly message: string; readonly isOwn: boolean }> {
  for (const message of path) {
    for (const call of message.role === "assistant" ? message.calls : []) {
      yield { call, message: message.id, isOwn };
      for (const first of state.children.get(call.id) ?? [])
        yield* callsOn(state, pathTo(state, newestLeaf(state, first)), false);
    }
  }
}

function fileChangeKind({ first, last, isChanged, isRead }: KnownFile): FileChange["kind"] | "read" | undefined {
  if (!isChanged || first === last) return isRead && last !== null ? "read" : undefined;
  return first === null ? "created" : last === null ? "deleted" : "changed";
}

function readFileLine(line: string): [string, KnownFile][] {
  const [, kind, name] = /^- (created|changed|deleted|read) (.*)$/.exec(line) ?? [];
  if (name === undefined) return [];
  const [first, last] = [kind === "created" ? null : "before", kind === "deleted" ? null : "then"];
  return [[name, { first, last: kind === "read" ? first : last, isChanged: kind !== "read", isRead: kind === "read" }]];
}
