import type { Session } from "@banyan/core";
import type { LiveTerminal } from "../terminal/full/live-terminal.ts";

/** In which tree a message is chosen, and from where. */
export interface PickOptions {
  readonly session: Pick<Session, "label" | "star" | "state">;
  /** What people call the agent. */
  readonly agent: string;
  /** Where the person stands. */
  readonly leaf: string | null;
  /** The message that is selected at first. */
  readonly selected?: string | undefined;
  /** Told what could not be done. */
  readonly tell: (error: unknown) => void;
}

/** Lets a person choose a message in the tree; nothing when none is chosen. */
export async function pickMessage(live: LiveTerminal, options: PickOptions): Promise<string | undefined> {
  const { session, agent, leaf, selected, tell } = options;
  const { TreeView } = await import("../terminal/full/views/tree-view.ts");
  const change = (changed: Promise<void>) => {
    changed.then(() => live.refresh()).catch(tell);
  };
  const tree = new TreeView({
    state: session.state,
    agent,
    leaf,
    ...(selected !== undefined && { selected }),
    onLabel: (message, label) => change(session.label(message, label)),
    onStar: (message, starred) => change(session.star(message, starred)),
  });
  return live.open(tree);
}
