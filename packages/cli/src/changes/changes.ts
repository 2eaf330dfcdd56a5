import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { isRemoved, messageNamed } from "@banyan/client/actions";
import { type ConversationState, newestLeaf } from "@banyan/core";
import { type ChangedFile, ConversationDirectory, changedFiles, directories, redactor, Worktrees } from "@banyan/host";
import { ownCommand } from "@banyan/host/own-command";
import { listing } from "../output/listing.ts";
import type { ExitCode } from "../program/exit.ts";
import { UsageError } from "../program/problem.ts";
import { changedFileLines, changeHead, diffLines } from "../show/diff-lines.ts";
import { styleFor } from "../show/style.ts";
import type { ChangesArguments } from "./arguments.ts";
import { findChangedFile, revert } from "./revert.ts";

/** `banyan changes`: shows and reverts the files that a conversation changed. Calls no model. */
export function changes(args: ChangesArguments): Promise<ExitCode> {
  return listing(async (write, warn) => {
    const userFolders = { env: process.env, home: homedir() };
    await using directory = new ConversationDirectory(userFolders);
    const { id, title } = await namedOrLastConversation(directory, args.conversation);
    switch (args.action) {
      case "list": {
        const files = changesOnBranch((await directory.read(id)).state, args.branch);
        return write(`${changedFileLines(files, { title }).join("\n")}\n`);
      }
      case "show":
        return printChanges(changesOnBranch((await directory.read(id)).state, args.branch), args.path, write);
      case "revert": {
        await using session = await directory.open(id);
        // An imported log may name any directory: do not write there.
        const isOwn = session.state.writtenElsewhere.size === 0;
        const workspace = (isOwn ? session.state.labels.cwd : undefined) ?? realpathSync(".");
        const { data, worktrees: folder } = directories(userFolders.env, userFolders.home);
        const backups = join(data, "backups");
        const worktrees = new Worktrees({ folder, workspace, env: userFolders.env });
        const folderOf = (name: string | undefined) => worktrees.folderOf(name, id);
        const files = changesOnBranch(session.state, args.branch);
        return await revert(
          { session, context: { folderOf, backups, redact: redactor({ env: userFolders.env }) }, files },
          args,
          write,
          warn,
        );
      }
    }
  });
}

async function namedOrLastConversation(directory: ConversationDirectory, named: string | undefined) {
  if (named !== undefined) return directory.find(named);
  const cwd = realpathSync(".");
  const [last] = await directory.list({ labels: { cwd }, limit: 1 });
  if (!last)
    throw new UsageError(
      `There is no conversation in ${cwd} yet. ${ownCommand("conversations list --all")} lists all conversations.`,
    );
  return last;
}

/** Returns the files changed on the branch of a message, or on all branches. */
function changesOnBranch(state: ConversationState, branch: string | undefined): ChangedFile[] {
  if (branch === undefined) return changedFiles(state);
  const message = messageNamed(state, branch);
  if (message === undefined || isRemoved(state, message))
    throw new UsageError(
      `There is no message ${branch} in this conversation. Name a message by its id, or by its number such as '#3'.`,
    );
  return changedFiles(state, newestLeaf(state, message));
}

function printChanges(files: readonly ChangedFile[], path: string | undefined, write: (text: string) => void): void {
  const style = styleFor(process.stdout, "auto");
  for (const file of path === undefined ? files : [findChangedFile(files, path)]) {
    // A program gets the raw diff, a user a formatted one.
    if (!process.stdout.isTTY) for (const { diff } of file.changes) write(diff);
    else
      for (const change of file.changes)
        write(`${[changeHead(change, style), ...diffLines(change.diff, { style }), ""].join("\n")}\n`);
  }
}
