import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import {
  ConversationDirectory,
  directories,
  type ManagedMemory,
  projectOf,
  readConfiguration,
  redactor,
  TrustRecord,
  userMemory,
} from "@banyan/host";
import { ownCommand } from "@banyan/host/own-command";
import { listing } from "../output/listing.ts";
import { type ExitCode, exitCodes } from "../program/exit.ts";
import { UsageError } from "../program/problem.ts";
import { memoryLines } from "../show/memory-lines.ts";
import { plainLine } from "../show/plain-text.ts";
import { askForYes } from "../terminal/ask-for-yes.ts";
import type { MemoryArguments } from "./arguments.ts";

/** `banyan memory`: lists, adds and removes memories (B45). Calls no model. */
export function memory(args: MemoryArguments): Promise<ExitCode> {
  return listing(async (write, warn) => {
    const place = { env: process.env, home: homedir() };
    const workspace = realpathSync(".");
    await using memory = userMemory({
      places: directories(place.env, place.home),
      workspace,
      redact: redactor({ env: place.env }),
    });
    const isOff = isSwitchedOff(place);
    if (isOff && args.action === "add")
      throw new UsageError(`Memory is off. ${ownCommand("config set memory.enabled true")} turns it on.`);
    if (isOff) warn("Memory is off: nothing new is remembered or recalled. These entries are from before.");
    return await performMemoryAction(memory, args, write, warn);
  });
}

async function performMemoryAction(
  memory: ManagedMemory,
  args: MemoryArguments,
  write: (text: string) => void,
  warn: (sentence: string) => void,
): Promise<ExitCode | undefined> {
  switch (args.action) {
    case "list":
    case "search": {
      const { limit } = args;
      const page = limit === undefined ? {} : { limit };
      const entries = await (args.action === "list" ? memory.list(page) : memory.search(args.words, page));
      const nothing = args.action === "list" ? "Memory has no entries yet." : "Nothing found.";
      if (args.output === "json") write(`${JSON.stringify(entries, null, 2)}\n`);
      else write(`${entries.length === 0 ? nothing : memoryLines(entries).join("\n")}\n`);
      return undefined;
    }
    case "add": {
      const { id, text } = await memory.add({ text: args.text });
      write(`Remembered as ${id}: ${plainLine(text)}\n`);
      return undefined;
    }
    case "remove":
      return removeMemories(memory, args.ids, write, warn);
    case "clear":
      await clearMemory(memory, args, write);
      return undefined;
  }
}

async function removeMemories(
  memory: ManagedMemory,
  ids: readonly number[],
  write: (text: string) => void,
  warn: (sentence: string) => void,
): Promise<ExitCode> {
  let exit: ExitCode = exitCodes.done;
  for (const id of ids) {
    if (await memory.remove(id)) write(`Forgot ${id}.\n`);
    else {
      warn(`There is no entry ${id}. ${ownCommand("memory list")} shows the numbers.`);
      exit = exitCodes.usage;
    }
  }
  return exit;
}

async function clearMemory(
  memory: ManagedMemory,
  { conversation: named, yes }: Extract<MemoryArguments, { action: "clear" }>,
  write: (text: string) => void,
): Promise<void> {
  const conversation = named === undefined ? undefined : await conversationNamed(named, memory);
  const what = conversation === undefined ? "everything that is remembered" : `entries from ${conversation} alone`;
  if (!yes && !(await askForYes(`forget ${what}, for good`, `This forgets ${what}, for good.`)))
    return write("Nothing was forgotten.\n");
  const count = await memory.clear(conversation === undefined ? undefined : { conversation });
  write(`Forgot ${count} ${count === 1 ? "entry" : "entries"}.\n`);
}

/** Id of a conversation, including a removed one with memories. */
async function conversationNamed(named: string, memory: ManagedMemory): Promise<string> {
  await using directory = new ConversationDirectory({ env: process.env, home: homedir() });
  if ((await memory.list({ conversation: named, limit: 1 })).length > 0) return named;
  return (await directory.find(named)).id;
}

function isSwitchedOff(place: { readonly env: NodeJS.ProcessEnv; readonly home: string }): boolean {
  const { state } = new TrustRecord(place).trustOf(".");
  const project = state === "trusted" ? { project: projectOf(".") } : {};
  return readConfiguration({ ...place, ...project }).settings.memory?.enabled === false;
}
