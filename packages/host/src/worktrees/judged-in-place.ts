import { homedir } from "node:os";
import type { Permission, Permit, PermitRequest } from "@banyan/core";
import { worktreeAt } from "@banyan/core/conversation";
import type { ReadRefusal } from "@banyan/tools/workspace";
import { type PermissionOptions, permissions } from "../permissions/permissions.ts";
import { pathFromWorkspace, pathScope, resolveNamedPath } from "../permissions/place.ts";
import { describeCallForRules } from "../permissions/subject.ts";
import { WorktreeError } from "./error.ts";
import type { Worktrees } from "./worktrees.ts";

/**
 * Judges each call in the folder of its branch (C7). A rule's path in the workspace then means the same file of the
 * branch's worktree. Deny and ask rules also apply as in the workspace itself, so that rules with absolute paths cover
 * the copy too.
 */
export function permissionInWorktrees(worktrees: Worktrees, options: PermissionOptions): Permission {
  const here = withoutUseless(options);
  const there = new Map<string, { readonly own: Permission; readonly asInWorkspace: Permission }>();
  const inPlace = async (request: PermitRequest, name: string): Promise<Permit> => {
    let folder: string;
    try {
      folder = await worktrees.folderOf(name, request.conversation.id);
    } catch (error) {
      if (!(error instanceof WorktreeError)) throw error;
      return { decision: "deny", reason: error.message };
    }
    const judges = there.get(folder) ?? {
      own: withoutUseless({ ...options, workspace: folder }),
      asInWorkspace: permissions({ ...options, copy: folder, canAsk: true }),
    };
    there.set(folder, judges);
    const inWorkspace = await judges.asInWorkspace(request);
    if (inWorkspace.decision === "deny") return inWorkspace;
    const isHeld = inWorkspace.decision === "ask" && inWorkspace.byRule === true;
    const permit = await judges.own(request);
    if (!isHeld || permit.decision === "deny") return permit;
    return options.canAsk ? inWorkspace : here(request);
  };
  return (request) => {
    const name = worktreeOf(request);
    return name === undefined ? here(request) : inPlace(request, name);
  };
}

/** Does not ask about a call that would fail after approval: tools cannot reach files outside the folder (S8). */
function withoutUseless(options: PermissionOptions): Permission {
  const judge = permissions(options);
  const asking = options.canAsk ? judge : permissions({ ...options, canAsk: true });
  const scope = pathScope(options.workspace, options.home ?? homedir());
  return async (request) => {
    const permit = await asking(request);
    if (permit.decision !== "ask") return permit;
    const { tool, input } = request;
    const { command, paths = [] } =
      (tool.folder && tool.offeredBy === undefined && describeCallForRules(tool, input)) || {};
    const isOutside = (path: string) =>
      resolveNamedPath(scope, path).forms.every((form) => pathFromWorkspace(scope, form) === undefined);
    const outside = command === undefined ? paths.find(({ path }) => isOutside(path)) : undefined;
    if (outside === undefined) return options.canAsk ? permit : judge(request);
    const reason = `${outside.path} is outside the workspace. Only paths inside the workspace can be used.`;
    return { decision: "deny", reason };
  };
}

/** The worktree of the asking run's branch, or of the call's message. */
function worktreeOf({ conversation, run, call }: PermitRequest): string | undefined {
  return worktreeAt(conversation, conversation.runs.get(run)?.leaf ?? conversation.calls.get(call));
}

/** Returns why rules forbid to read a file in a worktree, by its own path or by the same path in the workspace. */
export function readInPlace(
  workspace: string,
  folder: string,
  rulesFor: (folder: string) => ReadRefusal | undefined,
): ReadRefusal | undefined {
  const here = rulesFor(workspace);
  const there = folder === workspace ? undefined : rulesFor(folder);
  return there && here ? (path, named) => there(path, named) ?? here(path, named) : here;
}
