import { realpath } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { meantPath } from "@banyan/tools/named-path";
import {
  type Location,
  locate,
  openWorkspace,
  type WhyNotRead,
  type Workspace,
  WorkspaceError,
} from "@banyan/tools/workspace";

/** What a message may name of the machine's files. */
export interface Reach {
  /** The folder that relative paths are in. */
  readonly folder: string;
  /** Whether a path may lie outside of it, as for who sits at the machine. */
  readonly outside?: boolean;
  /** Files that rules close to all that reads. */
  readonly whyNotRead?: WhyNotRead | undefined;
}

/** Something that is there, in a folder that it is opened from. */
export interface FoundPlace {
  readonly workspace: Workspace;
  readonly location: Location;
}

/** Why something that is there does not go along, as the end of a sentence. */
export interface RefusedPlace {
  readonly why: string;
}

export type NamedPlace = FoundPlace | RefusedPlace;

export function isRefused(place: NamedPlace): place is RefusedPlace {
  return "why" in place;
}

/**
 * Finds what a person named (S21). A link that stays in the folder is followed; where one leads elsewhere, the person is
 * told to where, and may name that: a repository does not decide what is read. Returns nothing for what is not there.
 */
export async function placeNamed(name: string, reach: Reach): Promise<NamedPlace | undefined> {
  const { folder, outside = false, whyNotRead } = reach;
  let meant = name;
  try {
    const workspace = openWorkspace(folder);
    meant = meantPath(name, workspace);
    const location = await locate(workspace, meant);
    return location.kind === "missing" ? undefined : judged({ workspace, location }, location.path, name, whyNotRead);
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    if (error.code === "path") return { why: error.message };
    if (error.code !== "outside") return undefined;
  }
  const named = resolve(await realpath(folder), meant);
  const real = await realpath(named).catch(() => undefined);
  if (!outside) return { why: "it is outside the workspace, and a message to a server can name only files inside." };
  if (real === undefined) return undefined;
  if (real !== named) return { why: `a link leads to ${real}. Name that path if you mean it.` };
  const workspace = openWorkspace(dirname(real));
  const location = await locate(workspace, basename(real) || ".");
  return location.kind === "missing" ? undefined : judged({ workspace, location }, real, name, whyNotRead);
}

function judged(place: FoundPlace, path: string, name: string, whyNotRead: WhyNotRead | undefined): NamedPlace {
  // The names in a folder may be told.
  const why = place.location.kind === "directory" ? undefined : whyNotRead?.(path, name);
  return why === undefined ? place : { why };
}
