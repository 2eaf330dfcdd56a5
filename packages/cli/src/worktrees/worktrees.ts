import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { StoreError } from "@banyan/core";
import { ConversationDirectory, directories, Worktrees } from "@banyan/host";
import { listing } from "../output/listing.ts";
import type { ExitCode } from "../program/exit.ts";
import { styleFor } from "../show/style.ts";
import { worktreeLines } from "../show/worktree-lines.ts";
import type { WorktreesArguments } from "./arguments.ts";

/** `banyan worktrees`: the git worktrees of conversations in this repository. Calls no model. */
export function worktrees(args: WorktreesArguments): Promise<ExitCode> {
  return listing(async (write) => {
    const place = { env: process.env, home: homedir() };
    const { worktrees: folder } = directories(place.env, place.home);
    const all = new Worktrees({ folder, workspace: realpathSync("."), env: place.env });
    const listed = await all.list();
    if (args.action === "list") {
      if (args.output === "json") return write(`${JSON.stringify(listed, null, 2)}\n`);
      return write(`${worktreeLines(listed, { style: styleFor(process.stdout, "auto") }).join("\n")}\n`);
    }
    await using directory = new ConversationDirectory(place);
    const conversation = listed.find(({ name }) => name === args.name)?.conversation;
    // Holding the conversation excludes other processes, which may be working in the worktree.
    await using _held = conversation === undefined ? undefined : await openIfThere(directory, conversation);
    await all.remove(args.name, { changes: args.changes });
    write(`The worktree ${args.name} is removed.\n`);
  });
}

/** Opens the conversation to hold it. Undefined if it was removed, because its worktree may remain. */
async function openIfThere(directory: ConversationDirectory, conversation: string) {
  try {
    return await directory.open(conversation);
  } catch (error) {
    if (error instanceof StoreError && error.code === "not-found") return undefined;
    throw error;
  }
}
