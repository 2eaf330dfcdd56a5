import { chmodSync, readdirSync, renameSync, statSync } from "node:fs";
import { basename } from "node:path";
import { errorMessage } from "@banyan/core/shown";
import { isPlaceholder } from "../../sandbox/placeholder.ts";
import { unusedName } from "../../sandbox/protected-links.ts";
import { openParent } from "../changes/replace-file.ts";
import { systemCode, WorkspaceError } from "../files/error.ts";
import type { Workspace } from "../files/paths.ts";
import type { MomentRecord } from "./coverage.ts";
import { folderOf, nameOf } from "./tree-paths.ts";

/** The sign for bytes that are no text. */
const NO_TEXT = "\ufffd";
const LONGEST_NAME = 60;

/** Maximum number of looks: a new repository may contain another one. */
const MOST_LOOKS = 100;

/**
 * Records the state after a command with `record`. Gives the paths that the command made, and that no snapshot keeps,
 * other names: repositories, and names that are no text. `unkept`: the absolute paths that the command could not change.
 * Rejects with a `WorkspaceError` if such paths remain.
 */
export async function keepMade(
  workspace: Workspace,
  unkept: readonly string[],
  record: () => Promise<MomentRecord>,
): Promise<{ readonly changedFiles: number; readonly notices: readonly string[] }> {
  const notices: string[] = [];
  let changedFiles = 0;
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const found = await record();
    changedFiles += found.changedFiles;
    const made = madeUnkept(workspace, found, unkept);
    if (made.length === 0) return { changedFiles, notices };
    notices.push(...(await putAside(workspace, made)));
  }
  throw new WorkspaceError("changed", `A command made files that no snapshot keeps. ${notices.at(-1) ?? ""}`);
}

function madeUnkept({ root }: Workspace, { untouched, leftOut }: MomentRecord, unkept: readonly string[]): string[] {
  const found = [
    ...untouched.filter((path) => nameOf(path) === ".git"),
    ...leftOut.flatMap(({ path, why }) => (why === "name" ? path : [])),
  ];
  const wasThere = (path: string) => unkept.some((place) => `${root}/${path}/`.startsWith(`${place}/`));
  // A command in the sandbox may still need its placeholder there, and cannot change the placeholder.
  const isOfSandbox = (path: string) => path === ".git" && isPlaceholder(`${root}/${path}`);
  return found.filter((path) => !wasThere(path) && !isOfSandbox(path));
}

/** Gives the paths other names. Returns a sentence for each. */
async function putAside(workspace: Workspace, paths: readonly string[]): Promise<string[]> {
  const notices: string[] = [];
  for (const path of paths) {
    const folder = folderOf(path) || "the workspace";
    try {
      await using parent = await openParent(
        workspace,
        { path, real: `${workspace.root}/${path}`, kind: "missing", what: "" },
        false,
      );
      const { at } = parent;
      if (nameOf(path) === ".git") {
        const aside = unusedName(`${at}/.git`);
        withWriting(at, () => renameSync(`${at}/.git`, aside));
        notices.push(
          `A command made a repository in ${folder}. git obeys the settings of a repository, so its .git was renamed to ${basename(aside)}.`,
        );
      } else {
        for (const name of readdirSync(at, { encoding: "buffer" })) {
          const text = name.toString();
          if (!text.includes(NO_TEXT)) continue;
          const aside = unusedName(`${at}/${text.replaceAll(NO_TEXT, "_").slice(0, LONGEST_NAME)}`);
          withWriting(at, () => renameSync(Buffer.concat([Buffer.from(`${at}/`), name]), aside));
          notices.push(`A command made a name in ${folder} that is no text. The name is now ${basename(aside)}.`);
        }
      }
    } catch (error) {
      if (systemCode(error) !== "ENOENT")
        notices.push(`/rewind cannot remove ${path}, which a command made: ${errorMessage(error)}`);
    }
  }
  return notices;
}

/** Runs work in an open folder, also if the owner took away the right to write there. */
function withWriting(at: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (systemCode(error) !== "EACCES") throw error;
    const mode = statSync(`${at}/.`).mode & 0o7777;
    chmodSync(`${at}/.`, mode | 0o700);
    try {
      work();
    } finally {
      chmodSync(`${at}/.`, mode);
    }
  }
}
