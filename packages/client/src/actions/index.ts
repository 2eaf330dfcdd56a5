import { nearest, type Say } from "@banyan/core/shown";
import type { CommandName, Right } from "@banyan/protocol";
import { rightFor } from "@banyan/protocol/values";
import { isRootFolder, slashIn } from "../words/references.ts";
import { type Action, type ActionContext, ActionRefusal, type ActionStep, type ClientKind, message } from "./action.ts";
import { branchActions } from "./branches.ts";
import { messageActions } from "./messages.ts";
import { programActions } from "./program.ts";
import { turnActions } from "./turns.ts";

export type {
  Action,
  ActionContext,
  ActionNeeds,
  ActionStep,
  BranchTarget,
  ClientKind,
  CommandInput,
  CommandStep,
  ExportFormat,
  MessageStep,
  ShareRequest,
  TurnStep,
  ViewName,
  ViewStep,
} from "./action.ts";
export { ActionRefusal } from "./action.ts";
export { isRemoved, messageNamed, messageNumbers } from "./named-targets.ts";
export { readMode } from "./program.ts";

/** All slash actions, in the order of the help. */
export const actions: readonly Action[] = [...turnActions, ...branchActions, ...messageActions, ...programActions];

/** A user at a client: the client program, and the rights that the server gives the user. */
export interface ActionUser {
  readonly client: ClientKind;
  readonly rights: readonly Right[];
  /** Commands that the server refuses (`without` of its welcome). */
  readonly without?: readonly string[] | undefined;
}

/** Returns the actions that a client offers to a user. */
export function offeredActions(user: ActionUser): readonly Action[] {
  return actions.filter(({ needs }) => isForClient(needs?.clients, user) && may(needs?.right, user));
}

/** Returns the action with a name or alias, ignoring case. */
export function actionNamed(word: string, among: readonly Action[] = actions): Action | undefined {
  const wanted = word.toLowerCase();
  return among.find(({ name }) => name === wanted) ?? among.find(({ aliases }) => aliases?.includes(wanted));
}

/** Returns the arguments of an action as the help shows them. Returns nothing if the user cannot give arguments. */
export function argumentsFor({ arguments: taken, needs }: Action, user: ActionUser): string | undefined {
  if (!may(needs?.rightForArguments, user)) return undefined;
  if (taken === undefined || typeof taken === "string") return taken;
  return user.client === "terminal" ? taken.terminal : taken.elsewhere;
}

/** A parsed line: an action, a prompt of a file or MCP server, or text for the agent. */
export type ReadLine =
  | { readonly type: "action"; readonly action: Action; readonly argument: string }
  | { readonly type: "prompt"; readonly prompt: string; readonly argument: string }
  | { readonly type: "words" };

/**
 * Reads a line that begins with a slash (C18). A prompt with exactly this name takes precedence over aliases of
 * actions, and over actions with `givesWay`. Throws `ActionRefusal` for an unknown name or an action that is not
 * offered.
 */
export function readLine(
  line: string,
  user: ActionUser & { readonly prompts: readonly string[]; readonly say: Say },
): ReadLine {
  const slash = slashIn(line);
  if (!slash) return { type: "words" };
  const wanted = slash.name.toLowerCase();
  const argument = slash.argument.trim();
  const offered = offeredActions(user);
  const action = actionNamed(wanted, offered);
  const isOwn = action?.name === wanted && !action.givesWay;
  if (!isOwn && user.prompts.includes(wanted)) return { type: "prompt", prompt: wanted, argument };
  const known = actionNamed(wanted);
  if (action) return { type: "action", action, argument };
  if (known?.onPage !== undefined && user.client === "page") return { type: "action", action: known, argument };
  if (known === undefined && isRootFolder(slash.name)) return { type: "words" };
  throw new ActionRefusal(unknownActionSentence(slash.name, offered, user));
}

/** True if a line can be a prompt, because no action of the program has exactly its name. */
export function mayBePrompt(line: string): boolean {
  const wanted = slashIn(line)?.name.toLowerCase();
  const action = wanted === undefined ? undefined : actions.find(({ name }) => name === wanted);
  return wanted !== undefined && (action === undefined || action.givesWay === true);
}

/** Returns the step with which a client performs an action. Throws `ActionRefusal` for wrong or forbidden arguments. */
export function readAction(
  action: Action,
  argument: string,
  context: ActionContext & Pick<ActionUser, "rights">,
): ActionStep {
  const { client, say } = context;
  const isElsewhere = argument === "" || !isForClient(action.needs?.clients, context);
  if (client === "page" && action.onPage !== undefined && isElsewhere) return message(say(action.onPage));
  refuseArguments(action, argument, context);
  return action.read(argument, context);
}

/** Throws `ActionRefusal` if this user gives arguments to an action that then accepts none. */
export function refuseArguments(action: Action, argument: string, user: ActionUser & { readonly say: Say }): void {
  if (argument === "" || argumentsFor(action, user) !== undefined) return;
  const named = { name: action.name };
  throw new ActionRefusal(
    may(action.needs?.rightForArguments, user)
      ? user.say("/{name} takes no arguments here.", named)
      : user.say("You can only watch here, so write /{name} without arguments.", named),
  );
}

function unknownActionSentence(word: string, offered: readonly Action[], user: Parameters<typeof readLine>[1]): string {
  const { say, prompts } = user;
  const known = actionNamed(word);
  if (known && isForClient(known.needs?.clients, user))
    return user.rights.includes("act")
      ? say("/{name} is not available for this agent.", { name: word })
      : say("You can only watch here, so you cannot use /{name}.", { name: word });
  if (known)
    return isForClient(known.needs?.clients, { client: "terminal" })
      ? say("/{name} works only in a terminal on the agent's machine.", { name: word })
      : say("/{name} works only on the page.", { name: word });
  const names = offered.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  const near = nearest(word, [...names, ...prompts]).map((name) => `/${name}`);
  return near.length > 0
    ? say("There is no command /{name}. Did you mean {near}? To send this as text, start with a space.", {
        name: word,
        near: near.join(say(" or ")),
      })
    : say("There is no command /{name}. To send this as text, start with a space.", { name: word });
}

function isForClient(clients: readonly ClientKind[] | undefined, { client }: Pick<ActionUser, "client">): boolean {
  return clients === undefined || clients.includes(client);
}

function may(command: CommandName | undefined, user: ActionUser): boolean {
  return command === undefined || (user.rights.includes(rightFor(command)) && !user.without?.includes(command));
}
