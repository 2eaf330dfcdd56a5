import { join } from "node:path";
import { openWorkspace } from "../files/paths.ts";
import { TestFolder } from "../test-folder.fixture.ts";
import type { SnapshotBounds } from "./coverage.ts";
import type { RewindResult, RewindScope } from "./differences.ts";
import { WorkspaceSnapshots } from "./snapshots.ts";

/** A workspace with snapshots of one conversation, whose steps are numbered. */
export class Scene extends TestFolder {
  readonly stores = join(this.outside, "snapshots");
  #step = 0;

  open(bounds: Partial<SnapshotBounds> = {}): WorkspaceSnapshots {
    return new WorkspaceSnapshots(openWorkspace(this.root), { folder: this.stores, bounds });
  }

  /** Makes the changes of a command, between two moments. */
  async command(snapshots: WorkspaceSnapshots, run: () => void, conversation = "talk"): Promise<string> {
    const occasion = { conversation, message: `m${++this.#step}`, call: "c" };
    await snapshots.before(occasion, "all");
    run();
    await snapshots.after(occasion);
    return occasion.message;
  }

  /** Restores the state before a message. */
  async rewind(snapshots: WorkspaceSnapshots, message: string, conversation = "talk"): Promise<RewindResult> {
    const plan = await this.plan(snapshots, message, conversation);
    return snapshots.restore(plan, scopeOf(conversation));
  }

  async plan(snapshots: WorkspaceSnapshots, message: string, conversation = "talk") {
    const moment = (await snapshots.moments(conversation)).find((each) => each.message === message);
    if (!moment) throw new Error(`No moment of ${message}.`);
    return snapshots.compare(moment.id, scopeOf(conversation));
  }

  /** The paths of a plan with those who changed them. */
  async authors(snapshots: WorkspaceSnapshots, message: string): Promise<Record<string, string>> {
    return Object.fromEntries((await this.plan(snapshots, message)).files.map(({ path, by }) => [path, by]));
  }
}

/** A rewind of all messages of a conversation. */
export function scopeOf(conversation: string): RewindScope {
  return { conversation, isOwn: (moment) => moment.conversation === conversation };
}
