import { homedir } from "node:os";
import type { Permission, Permit, PermitRequest } from "@banyan/core";
import { worktreeAt } from "@banyan/core/conversation";
import type { WhyNotRead } from "@banyan/tools/workspace";
import { type PermissionOptions, permissions } from "../permissions/permissions.ts";
import { fromRoot, pathScope, placeOf } from "../permissions/place.ts";
import { aboutCall } from "../permissions/subject.ts";
import { WorktreeError } from "./error.ts";
import type { Worktrees } from "./worktrees.ts";

/**
 * Judges each call by where its branch works (C7): a path that a rule names from the workspace is that file of the branch's
 * worktree. What a rule forbids or asks about in the workspace itself, it does there as well, so that a rule that names a whole
 * path holds for the copy too.
 */
export function judgedInPlace(worktrees: Worktrees, options: PermissionOptions): Permission {
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

/**
 * Judges calls in one folder, and asks nobody about a call that would fail after a yes: tools of the folder reach no file
 * outside of it (S8).
 */
function withoutUseless(options: PermissionOptions): Permission {
  const judge = permissions(options);
  const asking = options.canAsk ? judge : permissions({ ...options, canAsk: true });
  const scope = pathScope(options.workspace, options.home ?? homedir());
  return async (request) => {
    const permit = await asking(request);
    if (permit.decision !== "ask") return permit;
    const { tool, input } = request;
    const { command, paths = [] } = (tool.folder && tool.offeredBy === undefined && aboutCall(tool, input)) || {};
    const isOutside = (path: string) => placeOf(scope, path).forms.every((form) => fromRoot(scope, form) === undefined);
    const outside = command === undefined ? paths.find(({ path }) => isOutside(path)) : undefined;
    if (outside === undefined) return options.canAsk ? permit : judge(request);
    const reason = `${outside.path} is outside the workspace. Only paths inside the workspace can be used.`;
    return { decision: "deny", reason };
  };
}

/** That of the branch whose run asks, else of the message of the call. */
function worktreeOf({ conversation, run, call }: PermitRequest): string | undefined {
  return worktreeAt(conversation, conversation.runs.get(run)?.leaf ?? conversation.calls.get(call));
}

/** Why a file of a folder may not be told: by its path there, and by the same path of the workspace. */
export function readInPlace(
  workspace: string,
  folder: string,
  rulesFor: (folder: string) => WhyNotRead | undefined,
): WhyNotRead | undefined {
  const here = rulesFor(workspace);
  const there = folder === workspace ? undefined : rulesFor(folder);
  return there && here ? (path, named) => there(path, named) ?? here(path, named) : here;
}
