import { type Action, type ActionUser, actionNamed, argumentsFor, offeredActions } from "@banyan/client/actions";
import { slashIn } from "@banyan/client/words";
import type { OfferedCommand } from "../terminal/full/prompt/completions.ts";

/** The user of an agent in this process, with all rights. */
export const AT_OWN_DESK: ActionUser = { client: "terminal", rights: ["show", "watch", "act"] };

/** Returns the commands that the user can use in a terminal or an editor. */
export function offeredCommands(user: ActionUser): readonly OfferedCommand[] {
  return offeredActions(user).map((action) => {
    const { name, aliases, help } = action;
    const takes = argumentsFor(action, user);
    return { name, help, ...(aliases && { also: aliases }), ...(takes !== undefined && { takes }) };
  });
}

/** Returns whether a line is a command that the user has the right to run. */
export function isCommand(line: string, user: ActionUser): boolean {
  return commandIn(line, user) !== undefined;
}

export function isExit(line: string): boolean {
  return /^\/(exit|quit)\s*$/i.test(line);
}

/** Returns whether a line is a command that can run while the agent works. */
export function runsAnytime(line: string, user: ActionUser): boolean {
  const command = commandIn(line, user);
  return command !== undefined && command.needs?.idle === undefined;
}

function commandIn(line: string, user: ActionUser): Action | undefined {
  const name = slashIn(line)?.name;
  return name === undefined ? undefined : actionNamed(name, offeredActions(user));
}
