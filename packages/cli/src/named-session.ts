import { newestLeaf, type Session } from "@banyan/core";
import { type Host, ModelChoiceError } from "@banyan/host";
import type { Arguments } from "./arguments.ts";
import { UsageError } from "./problem.ts";
import { isRemoved, messageNamed } from "./show/message-label.ts";

/**
 * Opens the conversation that the command line names, with the model that it goes on with; nothing when a new one is to
 * begin. `at` is where it goes on, when that is not where it was last written to. `notice` gets a sentence for what is not as one may think. Rejects with `ConversationError` or `StoreError`.
 */
export async function openNamedSession(
  args: Arguments,
  host: Host,
  notice: (sentence: string) => void,
): Promise<{ readonly session?: Session; readonly at?: string }> {
  const named = args.resume ?? (args.continue ? (await host.lastConversation())?.id : undefined);
  if (named === undefined) {
    if (args.at !== undefined)
      throw new UsageError("--at names a message of a conversation: it goes with --resume or --continue.");
    if (args.continue) notice("There is no conversation of this directory yet; this is a new one.");
    return {};
  }
  const session = await host.openSession(named);
  try {
    await prepare(session, args, host, notice);
    return { session, ...placeIn(session, args) };
  } catch (error) {
    await session.close();
    throw error;
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

async function prepare(
  session: Session,
  args: Arguments,
  host: Host,
  notice: (sentence: string) => void,
): Promise<void> {
  const { cwd } = session.state.labels;
  if (cwd !== undefined && cwd !== host.workspace)
    notice(`This conversation began in ${cwd}; it goes on in ${host.workspace}.`);
  const { model } = session.state;
  if (args.model !== undefined || model === undefined || model === host.model.name) return;
  try {
    await host.useModel(model, `Using ${model}, as this conversation does.`);
  } catch (error) {
    if (!(error instanceof ModelChoiceError)) throw error;
    notice(`This conversation used ${model}, which cannot be used now: ${error.message}`);
  }
}
