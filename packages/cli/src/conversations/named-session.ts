import { isRemoved, messageNamed } from "@banyan/client/actions";
import { newestLeaf, type Session } from "@banyan/core";
import { visibleLine } from "@banyan/core/shown";
import type { ConversationSummary } from "@banyan/core/stores";
import { ConversationError, findConversation, type Host, ModelChoiceError } from "@banyan/host";
import { UsageError } from "../program/problem.ts";
import type { Arguments } from "../program/prompt-arguments.ts";
import { excerptLine } from "../show/fit-text.ts";

export interface OpeningDialog {
  notice(sentence: string): void;
  /** Opens the conversation with this id. Default: the host opens it. */
  open?(id: string): Promise<Session>;
  /** Lets the user choose among matching conversations; absent without a user. */
  choose?(among?: readonly ConversationSummary[]): Promise<string | undefined>;
}

/**
 * Opens the conversation that the command line names, or a new one, with its own model. `at`: the message to continue
 * from, unless this is the latest leaf. Rejects with `ConversationError` or `StoreError`.
 */
export async function openNamedSession(
  args: Arguments,
  host: Host,
  opening: OpeningDialog,
): Promise<{ readonly session?: Session; readonly at?: string }> {
  const id = await conversationFromFlags(args, host, opening);
  if (id === undefined) {
    if (args.at !== undefined && args.resume === undefined)
      throw new UsageError("--at names a message of a conversation. Use it with --resume or --continue.");
    return {};
  }
  const session = await openWithModel(id, host, { ...opening, keepModel: args.model !== undefined });
  try {
    return { session, ...branchEndAt(session, args) };
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** Opens a conversation with its own model. With `keepModel`, or if that model fails, keeps the model of the host. */
export async function openWithModel(
  id: string,
  host: Host,
  {
    notice,
    open = (named) => host.openById(named),
    keepModel = false,
  }: Pick<OpeningDialog, "notice" | "open"> & { readonly keepModel?: boolean },
): Promise<Session> {
  const session = await open(id);
  try {
    await prepareSession(session, keepModel, host, notice);
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** Id of the conversation that the command line names; undefined for a new one. */
async function conversationFromFlags(
  { resume, continue: isLast }: Arguments,
  host: Host,
  { notice, choose }: OpeningDialog,
): Promise<string | undefined> {
  if (isLast) {
    const { last, passed } = await host.lastConversation();
    if (!last) notice("This directory has no conversation yet. Starting a new conversation.");
    if (passed)
      notice(
        `A program started a newer conversation in this directory, “${excerptLine(passed.title, 40)}”. --resume ${visibleLine(passed.id)} continues that conversation.`,
      );
    return last?.id;
  }
  if (resume === undefined) return undefined;
  if (!choose && resume === true)
    throw new UsageError("Without a terminal, --resume needs the id or the title of a conversation.");
  const id = resume === true ? await choose?.() : await findNamedConversation(resume, host, choose);
  if (id === undefined) notice("You chose no conversation. Starting a new conversation.");
  return id;
}

/** Finds a conversation by its id or title. If several match, the user chooses. */
export async function findNamedConversation(
  named: string,
  host: Host,
  choose: OpeningDialog["choose"],
): Promise<string | undefined> {
  try {
    return (await findConversation(host.store, named)).id;
  } catch (error) {
    if (!(error instanceof ConversationError) || error.code !== "ambiguous" || !choose) throw error;
    return choose(error.matches);
  }
}

/** The end of the branch of the message that the command line names. */
function branchEndAt({ state }: Session, { at }: Arguments): { readonly at?: string } {
  if (at === undefined) return {};
  const message = messageNamed(state, at);
  if (message === undefined || isRemoved(state, message))
    throw new UsageError(
      `There is no message ${at} in this conversation. Name a message by its id, or by its number such as '#3'.`,
    );
  return { at: newestLeaf(state, message) };
}

async function prepareSession(
  session: Session,
  keepModel: boolean,
  host: Host,
  notice: OpeningDialog["notice"],
): Promise<void> {
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
