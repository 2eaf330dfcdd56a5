import type { Agent, Session } from "@banyan/core";
import type { Host } from "@banyan/host";
import type { Terminal } from "../terminal/terminal.ts";
import type { Unsent } from "./unsent.ts";

/** How a talk begins, and how far it goes. */
export interface TalkOptions {
  readonly host: Host;
  readonly terminal: Terminal;
  readonly unsent: Unsent;
  /** Without one, one is begun with the first message. */
  readonly session?: Session | undefined;
  /** The message that the first one goes below; where the conversation was last written to when absent. */
  readonly at?: string | undefined;
  /** What is said first is a task. `once`: the person is not asked for more when it has ended by itself. */
  readonly task?: "once" | "first" | undefined;
  /** What the result of a task must be. */
  readonly output?: Agent["options"]["output"];
}
