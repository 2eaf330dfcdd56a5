import { dirname } from "node:path/posix";
import {
  type ChangesContext,
  changesSinceCommit,
  compareFiles,
  type RewindContext,
  type RewindTarget,
  rewindFiles,
  undoableCalls,
  undoCall,
} from "@banyan/host";
import type { Result } from "@banyan/protocol";
import { NotThereError } from "../request/problem.ts";
import { requireMessages, requireRest, whileAtRest } from "./at-rest.ts";
import type { Handlers, ServedHost } from "./workplace.ts";

/** Handlers of the commands about workspace files. The log, not the client, decides which files changed (S4). */
export const fileHandlers: Handlers<"file.find" | "file.undo" | "file.compare" | "file.rewind" | "picture.read"> = {
  async "file.find"({ query, limit = 20 }, { files }) {
    return { files: nearestPaths(query, await files.list(), limit) };
  },

  async "file.undo"({ conversation, leaf, call, agreed }, { host, conversations }) {
    const live = await conversations.open(conversation);
    return live.whileBeginning(async () => {
      const { session } = live;
      const { state } = session;
      const { backups } = await host.ready();
      requireMessages(state, leaf);
      if (!state.calls.has(call)) throw new NotThereError(`There is no call ${call} in this conversation.`);
      const done = undoableCalls(state, leaf).find((known) => known.call === call);
      // A call that is already undone stays undone.
      if (!done) return { changes: [], problems: [] };
      requireRest(state, [state.calls.get(call)]);
      const place = { ...changesContextOf(host, { conversation, backups }), ...(agreed && { agreed }) };
      return whileAtRest(session, leaf, () => undoCall(session, place, { ...done, leaf }));
    });
  },

  async "file.compare"({ conversation, leaf, to, undo, turn, git }, { host, conversations, signal }) {
    const live = await conversations.open(conversation);
    const { session } = live;
    requireMessages(session.state, leaf, to);
    const place = { leaf, to: git ? "git" : turn ? "turn" : rewindTarget(to, undo) } as const;
    const found = await compareFiles(session, await rewindContextOf(host, conversation, signal), place);
    const running = session.state.processes.values().filter(({ outcome }) => outcome === undefined);
    const { message = null, ...comparison } = found ?? { files: [], leftOut: [] };
    return { ...comparison, ...(message !== null && { to: message }), processes: running.toArray().length };
  },

  async "file.rewind"({ conversation, leaf, to, undo, asOf, paths }, { host, conversations, signal }) {
    const live = await conversations.open(conversation);
    return live.whileBeginning(async () => {
      const { session } = live;
      requireMessages(session.state, leaf, to);
      requireRest(session.state, [leaf]);
      const context = await rewindContextOf(host, conversation, signal);
      const choice = { leaf, to: rewindTarget(to, undo), asOf, paths };
      return whileAtRest(session, leaf, () => rewindFiles(session, context, choice));
    });
  },

  async "picture.read"({ url }, { host, signal }) {
    try {
      const { address, mediaType, bytes } = await host.picture(url, signal);
      return { picture: { address, mediaType, data: Buffer.from(bytes).toString("base64") } };
    } catch (error) {
      return refusedPicture(error);
    }
  },
};

type PictureRead = Result<"picture.read">;

/** The result for an image that cannot be loaded. Throws other errors again. */
function refusedPicture(error: unknown): PictureRead {
  if (!(error instanceof Error && error.name === "WebError" && "code" in error)) throw error;
  return { refused: { why: error.code as NonNullable<PictureRead["refused"]>["why"], message: error.message } };
}

function changesContextOf(
  { worktrees, redact }: ServedHost,
  { conversation, backups }: { readonly conversation: string; readonly backups: string },
): ChangesContext {
  return { folderOf: (name) => worktrees.folderOf(name, conversation), backups, redact };
}

async function rewindContextOf(host: ServedHost, conversation: string, signal: AbortSignal): Promise<RewindContext> {
  const { worktrees, redact, env } = host;
  const { snapshotsOf, confinesIn } = await host.ready();
  const folderOf = (name: string | undefined) => worktrees.folderOf(name, conversation);
  return {
    redact,
    snapshotsAt: async (name) => snapshotsOf(await folderOf(name)),
    async changesSinceCommit(name) {
      const folder = await folderOf(name);
      return changesSinceCommit({ folder, sandbox: await confinesIn(folder), env, signal, watch: redact.watch });
    },
  };
}

function rewindTarget(message: string | undefined, undo = false): RewindTarget {
  return undo ? "undo" : { message: message ?? null };
}

/** Finds paths that contain the letters of the query in order. Matches at the start of a name come first. */
function nearestPaths(query: string, files: readonly string[], limit: number): string[] {
  const wanted = query.toLowerCase();
  const found: { readonly path: string; readonly rank: number }[] = [];
  for (const path of [...foldersOf(files), ...files]) {
    const rank = rankOf(wanted, path.toLowerCase());
    if (rank !== undefined) found.push({ path, rank });
  }
  found.sort((a, b) => a.rank - b.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
  return found.slice(0, limit).map(({ path }) => path);
}

/** 0: the path starts with the query. 1: a name does. 2: the path contains the query. 3: its letters in order. */
function rankOf(wanted: string, path: string): number | undefined {
  if (path.startsWith(wanted)) return 0;
  if (path.includes(`/${wanted}`)) return 1;
  if (path.includes(wanted)) return 2;
  let at = 0;
  for (const letter of wanted) {
    at = path.indexOf(letter, at) + 1;
    if (at === 0) return undefined;
  }
  return 3;
}

/** Folders end in a slash. */
function foldersOf(files: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const file of files) {
    for (let folder = dirname(file); folder !== "." && !folders.has(`${folder}/`); folder = dirname(folder))
      folders.add(`${folder}/`);
  }
  return folders;
}
