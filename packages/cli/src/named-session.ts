import type { Session } from "@banyan/core";
import { type Host, ModelChoiceError } from "@banyan/host";
import type { Arguments } from "./arguments.ts";

/**
 * Opens the conversation that the command line names, with the model that it goes on with; nothing when a new one is to
 * begin. `notice` gets a sentence for what is not as one may think. Rejects with `ConversationError` or `StoreError`.
 */
export async function openNamedSession(
  args: Arguments,
  host: Host,
  notice: (sentence: string) => void,
): Promise<Session | undefined> {
  const named = args.resume ?? (args.continue ? (await host.lastConversation())?.id : undefined);
  if (named === undefined) {
    if (args.continue) notice("There is no conversation of this directory yet; this is a new one.");
    return undefined;
  }
  const session = await host.openSession(named);
  const { cwd } = session.state.labels;
  if (cwd !== undefined && cwd !== host.workspace)
    notice(`This conversation began in ${cwd}; it goes on in ${host.workspace}.`);
  const { model } = session.state;
  if (args.model !== undefined || model === undefined || model === host.model.name) return session;
  try {
    await host.useModel(model, `Using ${model}, as this conversation does.`);
  } catch (error) {
    if (!(error instanceof ModelChoiceError)) throw error;
    notice(`This conversation used ${model}, which cannot be used now: ${error.message}`);
  }
  return session;
}
