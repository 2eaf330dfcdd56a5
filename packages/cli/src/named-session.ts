import { isRemoved, messageNamed } from "@banyan/client/actions";
import { newestLeaf, type Session } from "@banyan/core";
import { visibleLine } from "@banyan/core/shown";
import type { ConversationSummary } from "@banyan/core/stores";
import { ConversationError, findConversation, type Host, ModelChoiceError } from "@banyan/host";
import type { Arguments } from "./arguments.ts";
import { UsageError } from "./problem.ts";
import { excerpt } from "./show/fit-text.ts";

/** Who is asked and told while a conversation is opened. */
export interface Opening {
  /** Gets a sentence for what is not as one may think. */
  notice(sentence: string): void;
  /** Opens the conversation of an id, where the host is not to do it. */
  open?(id: string): Promise<Session>;
  /** Lets a person choose a conversation, among those that may be meant; absent where nobody can. */
  choose?(among?: readonly ConversationSummary[]): Promise<string | undefined>;
}

/**
 * Opens the conversation that the command line names, with the model that it goes on with; nothing when a new one is to
 * begin. `at` is where it goes on, when that is not where it was last written to. Rejects with `ConversationError` or
 * `StoreError`.
 */
export async function openNamedSession(
  args: Arguments,
  host: Host,
  opening: Opening,
): Promise<{ readonly session?: Session; readonly at?: string }> {
  const id = await namedIn(args, host, opening);
  if (id === undefined) {
    if (args.at !== undefined && args.resume === undefined)
      throw new UsageError("--at names a message of a conversation. Use it with --resume or --continue.");
    return {};
  }
  const session = await openWithModel(id, host, { ...opening, keepModel: args.model !== undefined });
  try {
    return { session, ...placeIn(session, args) };
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** Opens the conversation of this id with the model that it goes on with, unless that of the host is to be kept. */
export async function openWithModel(
  id: string,
  host: Host,
  {
    notice,
    open = (named) => host.openById(named),
    keepModel = false,
  }: Pick<Opening, "notice" | "open"> & { readonly keepModel?: boolean },
): Promise<Session> {
  const session = await open(id);
  try {
    await prepare(session, keepModel, host, notice);
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** The id of the conversation that is meant; nothing for a new one. */
async function namedIn(
  { resume, continue: isLast }: Arguments,
  host: Host,
  { notice, choose }: Opening,
): Promise<string | undefined> {
  if (isLast) {
    const { last, passed } = await host.lastConversation();
    if (!last) notice("This directory has no conversation yet. Starting a new one.");
    if (passed)
      notice(
        `A newer conversation, “${excerpt(passed.title, 40)}”, was started by a program. --resume ${visibleLine(passed.id)} continues it.`,
      );
    return last?.id;
  }
  if (resume === undefined) return undefined;
  if (!choose && resume === true)
    throw new UsageError("There is no terminal to choose in. Add an id or a title to --resume.");
  const id = resume === true ? await choose?.() : await idOf(resume, host, choose);
  if (id === undefined) notice("No conversation chosen. Starting a new one.");
  return id;
}

/** The conversation that a person means by a name; where several may be meant, the one that they choose. */
export async function idOf(named: string, host: Host, choose: Opening["choose"]): Promise<string | undefined> {
  try {
    return (await findConversation(host.store, named)).id;
  } catch (error) {
    if (!(error instanceof ConversationError) || error.code !== "ambiguous" || !choose) throw error;
    return choose(error.matches);
  }
}

/** The end of the branch on which the message stands that the command line names. */
function placeIn({ state }: Session, { at }: Arguments): { readonly at?: string } {
  if (at === undefined) return {};
  const message = messageNamed(state, at);
  if (message === undefined || isRemoved(state, message))
    throw new UsageError(
      `There is no message ${at} in this conversation. Name one by its id, or by its number, as in '#3'.`,
    );
  return { at: newestLeaf(state, message) };
}

async function prepare(session: Session, keepModel: boolean, host: Host, notice: Opening["notice"]): Promise<void> {
  const { cwd } = session.state.labels;
  if (cwd !== undefined && cwd !== host.workspace)
    notice(`This conversation started in ${cwd} and continues in ${host.workspace}.`);
  const { model } = session.state;
  if (keepModel || model === undefined || model === host.model.name) return;
  try {
    await host.useModel(model, `Model: ${model} (from this conversation)`);
  } catch (error) {
    if (!(error instanceof ModelChoiceError)) throw error;
    notice(`This conversation used ${model}, which cannot be used now: ${error.message}`);
  }
}
