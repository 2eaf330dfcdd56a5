import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { counted, errorMessage, visibleLine } from "@banyan/core/shown";
import type { ConversationSummary } from "@banyan/core/stores";
import { type ConversationDirectory, type Redact, redactor } from "@banyan/host";
import {
  conversationOf,
  type ForeignProgram,
  type FoundSession,
  type PastSession,
  PROGRAMS,
  readSession,
  SOURCE,
  sessionFolders,
  sessionSource,
  sessionsIn,
} from "@banyan/host/exchange";
import { optionWords, ownCommand } from "@banyan/host/own-command";
import { UsageError } from "../program/problem.ts";
import { excerptLine } from "../show/fit-text.ts";
import { plainLine } from "../show/plain-text.ts";
import { formatTime, table } from "../show/table.ts";
import { typedLine } from "../terminal/ask-for-yes.ts";
import type { ConversationsArguments } from "./arguments.ts";
import { importExported } from "./exchange.ts";

type ImportArguments = Extract<ConversationsArguments, { action: "import" }>;
type Write = (text: string) => void;

/** Maximum sessions in a list, and maximum characters of a title. */
const LISTED = 20;
const TITLE = 56;

/** Imports an export, or sessions of other programs: sessions at a path, sessions that the user chooses, or all. */
export async function importConversations(
  directory: ConversationDirectory,
  { path, from, here, all }: ImportArguments,
  write: Write,
): Promise<void> {
  const what = from === undefined ? "another program" : PROGRAMS[from];
  const redact = redactor({ env: process.env });
  if (path !== undefined) {
    const found = path === "-" ? [] : await sessionsIn(path, redact, from);
    if (found.length > 0) return bringIn(directory, found, redact, write);
    if (from === undefined && !(statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false))
      return importExported(directory, path, write);
    throw new UsageError(`${path} contains no session of ${what}.`);
  }
  const cwd = realpathSync(".");
  const isHere = (each: FoundSession) => each.directory === cwd;
  const found = await foundHere(from, redact);
  const sorted = [...found.filter(isHere), ...found.filter((each) => !isHere(each))];
  if (all || here) return bringIn(directory, here ? found.filter(isHere) : sorted, redact, write);
  if (found.length === 0) return write(`No session of ${what} was found on this machine.\n`);
  const shown = sorted.slice(0, LISTED);
  const known = await bySource(directory);
  const rows = shown.map((each, index) => [
    String(index + 1),
    PROGRAMS[each.program],
    formatTime(each.updatedAt),
    known.has(sessionSource(each)) ? "already imported" : "",
    excerptLine(each.title, TITLE),
    isHere(each) ? "" : plainLine(each.directory ?? ""),
  ]);
  for (const line of table([["", "program", "last written", "", "title", "directory"], ...rows])) write(`${line}\n`);
  if (found.length > LISTED) write(`There are ${found.length - LISTED} more sessions. --all imports all sessions.\n`);
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    const command = ownCommand(["conversations", "import"]);
    return write(`To import sessions, add --here, --all, or the path of a file or folder to ${command}.\n`);
  }
  const typed = await typedLine("Type the numbers of the sessions to import, such as 1 3-5, or nothing to leave: ");
  const chosen = numbersIn(typed ?? "").map((number) => shown[number - 1]);
  await bringIn(
    directory,
    chosen.filter((each) => each !== undefined),
    redact,
    write,
  );
}

async function foundHere(from: ForeignProgram | undefined, redact: Redact): Promise<FoundSession[]> {
  const folders = Object.entries(sessionFolders(process.env, homedir())) as [ForeignProgram, string][];
  const wanted = folders.filter(([program]) => from === undefined || program === from);
  const found = await Promise.all(wanted.map(([program, folder]) => sessionsIn(folder, redact, program)));
  return found.flat().sort((a, b) => b.updatedAt - a.updatedAt);
}

async function bySource(directory: ConversationDirectory): Promise<Map<string, ConversationSummary>> {
  const known = await directory.list();
  return new Map(known.flatMap((each) => (each.labels[SOURCE] === undefined ? [] : [[each.labels[SOURCE], each]])));
}

function numbersIn(text: string): number[] {
  return [...text.matchAll(/(\d+)(?:\s*-\s*(\d+))?/g)].flatMap(([, first, last = first]) => {
    const [from, to] = [Number(first), Math.min(Number(last), LISTED)];
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
  });
}

/** Imports sessions one by one, and prints each result. An unreadable session does not stop the others. */
async function bringIn(
  directory: ConversationDirectory,
  found: readonly FoundSession[],
  redact: Redact,
  write: Write,
): Promise<void> {
  const known = await bySource(directory);
  let last: string | undefined;
  for (const each of found) {
    const there = known.get(sessionSource(each));
    if (there) {
      write(
        `${sessionLabel(each)}: already imported as ${visibleLine(there.id)}. Remove that conversation to import the session again.\n`,
      );
      last = there.id;
      continue;
    }
    const session = await readSession(each).catch((error: unknown) => {
      if (found.length === 1)
        throw new UsageError(`${each.file} cannot be read: ${errorMessage(error)}`, { cause: error });
      write(`${sessionLabel(each)}: cannot be read: ${errorMessage(error)}\n`);
    });
    if (!session) continue;
    if (session.messages.length === 0) {
      write(`${sessionLabel(each)}: has no messages.\n`);
      continue;
    }
    last = await directory.bringIn(conversationOf(session, redact));
    const { state } = await directory.read(last);
    write(`${sessionLabel(each)}: ${counted(state.messages.size, "message")}, as ${last}\n`);
    for (const line of importNotes(session)) write(`  ${plainLine(line)}\n`);
  }
  if (found.length === 0) write("Nothing to import.\n");
  if (found.length === 1 && last !== undefined) write(`${ownCommand(optionWords("--resume", last))}\n`);
}

function sessionLabel({ program, title, id }: FoundSession): string {
  return `${PROGRAMS[program]}, “${excerptLine(title, TITLE) || visibleLine(id)}”`;
}

function importNotes({ program, forkOf, left }: PastSession): string[] {
  const fork =
    forkOf === undefined
      ? []
      : [`a fork of the session ${forkOf} of ${PROGRAMS[program]}: both have the messages before it`];
  return [...fork, ...left.map((what) => `not taken: ${what}`)];
}
