import { readFileSync, writeFileSync } from "node:fs";
import { counted } from "@banyan/core/shown";
import type { ConversationDirectory, StoredConversation } from "@banyan/host";
import { ExchangeError, fromJson, type ReadConversation, toHtml, toJson, toMarkdown } from "@banyan/host/exchange";
import { optionWords, ownCommand } from "@banyan/host/own-command";
import { UsageError } from "../program/problem.ts";
import { plainLine } from "../show/plain-text.ts";
import type { ConversationsArguments } from "./arguments.ts";

type ExportArguments = Extract<ConversationsArguments, { action: "export" }>;

/** Writes a conversation to standard output or to a new file (B56). */
export async function exportConversation(
  directory: ConversationDirectory,
  { conversation, format, file }: ExportArguments,
  write: (text: string) => void,
): Promise<void> {
  const { id } = await directory.find(conversation);
  const stored = await directory.read(id);
  for (const sentence of stored.damage)
    process.stderr.write(`banyan: part of the conversation cannot be read: ${plainLine(sentence)}\n`);
  const text = exportText(format, stored);
  if (file === undefined) return write(text);
  writeNew(file, text);
  write(`Exported ${id} to ${file}.\n`);
}

/** Writes a new file that only its owner can read. Throws a `UsageError` if the file exists or cannot be written. */
export function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    throw notUsable(file, error, "The file exists already. Name another file, or remove it first.");
  }
}

function exportText(format: ExportArguments["format"], { events, state }: StoredConversation): string {
  switch (format) {
    case "json":
      return toJson(events);
    case "markdown":
      return toMarkdown(state);
    case "html":
      return toHtml(state);
  }
}

/** Imports a conversation from a JSON export of Banyan. */
export async function importExported(
  directory: ConversationDirectory,
  file: string,
  write: (text: string) => void,
): Promise<void> {
  const read = readExportedFile(file);
  const id = await directory.bringIn(read);
  const { state } = await directory.read(id);
  if (read.unknown !== undefined) process.stderr.write(`banyan: ${plainLine(read.unknown)}\n`);
  const second = id === read.id ? "" : ` ${read.id} exists already, so the imported conversation has a new id.`;
  write(
    `Imported ${counted(state.messages.size, "message")} as ${id}.${second}\n${ownCommand(optionWords("--resume", id))}\n`,
  );
}

function readExportedFile(file: string): ReadConversation {
  let text: string;
  try {
    text = readFileSync(file === "-" ? process.stdin.fd : file, "utf8");
  } catch (error) {
    throw notUsable(file, error);
  }
  try {
    return fromJson(text);
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    throw new UsageError(`${file} cannot be imported: ${error.message}`, { cause: error });
  }
}

function notUsable(file: string, error: unknown, exists?: string): UsageError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  const why = code === "EEXIST" && exists !== undefined ? exists : `The file cannot be used (${code}).`;
  return new UsageError(`${file}: ${why}`, { cause: error });
}
