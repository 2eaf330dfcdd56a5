import { type ConversationState, Interruption, newestLeaf, pathTo, say } from "@banyan/core";
import { type LiveRun, standingLeaf, worktreeAt } from "@banyan/core/conversation";
import {
  branchHandover,
  branchNameForModel,
  bringingAgent,
  compareBranches,
  fanStarts,
  forkAbove,
  WorktreeError,
  type Worktrees,
} from "@banyan/host";
import { BRANCHES_AT_ONCE, type Command } from "@banyan/protocol";
import { TurnNotBegun } from "../live/beginnings.ts";
import type { LiveConversation } from "../live/live-conversation.ts";
import { AtWorkError, asAtWork, clientProblem, NotThereError, UnfittingAnswerError } from "../request/problem.ts";
import { agentForTurn, type TurnSettings } from "./agent-for.ts";
import { statesThatMayWait } from "./answers.ts";
import { requireMessages, requireRest } from "./at-rest.ts";
import { readEvents } from "./conversations.ts";
import { beginTurn, isDone } from "./turns.ts";
import { type Handlers, prepareMessage, type Workplace } from "./workplace.ts";

/** The first message of a conversation that begins with several branches. */
const FORK = "Several branches of this conversation begin here.";

/** The default number of attempts of a single model. */
const ATTEMPTS = 3;

/** Handlers of the commands about branches, including those that compare branches (C8) or use worktrees (C7). */
export const branchHandlers: Handlers<
  | "branch.compact"
  | "branch.fan"
  | "branch.compare"
  | "branch.bring"
  | "worktree.open"
  | "worktree.list"
  | "worktree.remove"
> = {
  async "branch.compact"({ conversation, id, at, keep, model }, desk) {
    const { host, conversations } = desk;
    using beginning = desk.beginnings.of({ conversation, id });
    const live = await conversations.open(conversation);
    return await live.whileBeginning(async () => {
      const { session } = live;
      const { state } = session;
      await host.ready();
      const agent = await agentForTurn(desk, live, { model });
      requireMessages(state, at);
      const leaf = at ?? standingLeaf(state, state.leaf);
      if (leaf === null) return { problem: "There are no messages yet." };
      requireRest(state, [leaf]);
      const wanted = keep === undefined ? {} : { keep: host.redact(keep) };
      beginning.begins();
      const shortening = agent.compact({ session, at: leaf, id, wait: false, ...wanted });
      const problem = await shortening.catch((error: unknown) => {
        // An interruption that came while the compaction waited for its branch.
        throw error instanceof Interruption ? new TurnNotBegun() : asAtWork(error);
      });
      if (problem !== undefined) return { problem };
      const summary = newestLeaf(state, leaf);
      const message = state.messages.get(summary);
      const compaction = message?.role === "summary" ? message.compaction : undefined;
      return { summary, ...(compaction && { compaction }) };
    });
  },
  async "branch.fan"(command, desk, principal) {
    using beginning = desk.beginnings.of(command);
    const live = await desk.conversations.open(command.conversation);
    return await live.whileBeginning(async () => {
      const { session } = live;
      const { state } = session;
      const { id, parts } = command;
      const place = messageBelow(live, command.at);
      const asked = askedModels(command);
      const nameOf = (model: string | undefined) => model ?? state.model ?? desk.host.model.name;
      const known = asked.map((_, index) => state.messages.get(branchMessageId(id, index)));
      if (known.some((message) => message))
        return { branches: known.flatMap(toldAgain(asked.map(nameOf), live)), problems: [] };
      mustBeFree(state, place);
      // Reject unusable models before anything is created.
      for (const model of new Set(asked)) await agentForTurn(desk, live, fanSettings(command, model));
      const signal = AbortSignal.any([desk.signal, beginning.interruption]);
      const folder = await desk.host.worktrees.folderAt(state, place);
      const { parts: clean } = await prepareMessage(desk, parts, { principal, signal, folder });
      const said = await desk.host.hooks.prompt(session, clean);
      const { worktrees, problems } = await worktreesFor(command, live, desk);
      // The user stays at this message of the main folder, compares from there, and brings a branch there.
      const at = place ?? (await session.add(FORK, { at: null, author: "system", id: `${id}.0` }));
      const places = await fanStarts(
        session,
        at,
        asked.map((model) => branchNameForModel(nameOf(model))),
        worktrees,
      );
      const begun = await Promise.allSettled(
        places.map(async (place, index) => {
          const message = branchMessageId(id, index);
          const turn = { ...fanSettings(command, asked[index]), id: message };
          await beginTurn(turn, say(said), place.at ?? undefined, { live, beginning, desk });
          return {
            message,
            model: nameOf(asked[index]),
            ...(place.worktree !== undefined && { worktree: place.worktree }),
          };
        }),
      );
      const branches = begun.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
      const failed = begun.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
      if (branches.length === 0) throw failed[0];
      return {
        at,
        branches,
        problems: [
          ...problems,
          ...failed.map((error) => `One branch was not started: ${clientProblem(error)?.message ?? desk.told(error)}`),
        ],
      };
    });
  },

  async "branch.compare"({ conversation, at }, { conversations, host }) {
    const { session } = await conversations.open(conversation);
    const { state } = session;
    requireMessages(state, at);
    const fork = forkAbove(state, at ?? standingLeaf(state, state.leaf));
    if (fork === undefined)
      throw new NotThereError("There is only one branch, so there is nothing to compare. Ask several models first.");
    const events = await readEvents(session);
    const branches = await compareBranches(state, host.worktrees, { at: fork, events });
    return { at: fork, branches };
  },

  async "branch.bring"({ conversation, id, from, to }, desk) {
    using beginning = desk.beginnings.of({ conversation, id });
    const { host, conversations } = desk;
    const live = await conversations.open(conversation);
    return await live.whileBeginning(async () => {
      const { session } = live;
      const { state } = session;
      requireMessages(state, from, to);
      const at = messageBelow(live, to);
      if (at === null)
        throw new NotThereError("This conversation has no branch to which the changes could be brought.");
      const leaf = newestLeaf(state, from);
      if (pathTo(state, at).some((message) => message.id === leaf))
        throw new UnfittingAnswerError("Choose another branch: the source and the target are the same.");
      if (isDone(live, id)) return { message: id, files: 0, problems: [] };
      requireRest(state, [leaf, at]);
      const { bring } = await host.ready();
      const { text, patch, problems } = await branchHandover(state, host.worktrees, { from: leaf, to: at });
      const told = host.redact(text);
      if (!patch) {
        await session.add(told, { at, id });
        return { message: id, files: 0, problems };
      }
      const agent = bringingAgent(host.agent, bring, patch);
      const directive = say([{ type: "text", text: told }]);
      await desk.chats.begin(session, { agent, directive, at, id, client: desk.client }, beginning);
      return { message: id, files: patch.files.length, problems };
    });
  },

  async "worktree.open"({ conversation, at, name }, { conversations, host }) {
    const live = await conversations.open(conversation);
    return live.whileBeginning(async () => {
      const [place] = await host.worktrees.open(live.session, messageBelow(live, at), [name ?? "branch"]);
      return { message: place?.at ?? "", worktree: place?.worktree ?? "" };
    });
  },

  async "worktree.list"({ conversation }, { host }) {
    const worktrees = await host.worktrees.list(conversation);
    return {
      worktrees: worktrees.map(({ files, ...worktree }) => ({
        ...worktree,
        files: files.map(({ mode: _, ...file }) => file),
      })),
    };
  },

  async "worktree.remove"({ name, changes }, desk) {
    const { host } = desk;
    for (const state of await statesThatMayWait(desk)) {
      const isIn = ({ leaf }: LiveRun) => worktreeAt(state, leaf) === name;
      if (state.runs.values().some(isIn)) throw new AtWorkError();
      if (state.waiting.values().some(isIn)) throw new AtWorkError({ isWaiting: true });
    }
    await host.worktrees.remove(name, { changes });
    return {};
  },
};

/** Throws if a turn that ends at this message is running or waits: a new message would wait for that turn. */
function mustBeFree({ runs, waiting }: ConversationState, at: string | null): void {
  if (runs.values().some(({ leaf }) => leaf === at)) throw new AtWorkError();
  if (waiting.values().some(({ leaf }) => leaf === at)) throw new AtWorkError({ isWaiting: true });
}

/** Throws if the named message is missing. */
function messageBelow({ session: { state } }: LiveConversation, at: string | null | undefined): string | null {
  requireMessages(state, at ?? undefined);
  return at === undefined ? standingLeaf(state, state.leaf) : at;
}

function branchMessageId(command: string, index: number): string {
  return `${command}.${index + 1}`;
}

/** `undefined` is the conversation's model. */
function askedModels({
  models = [undefined],
  times,
}: {
  readonly models?: readonly (string | undefined)[] | undefined;
  readonly times?: number | undefined;
}): readonly (string | undefined)[] {
  const often = times ?? (models.length === 1 ? ATTEMPTS : 1);
  const asked = models.flatMap((model) => Array.from({ length: often }, () => model));
  if (asked.length <= BRANCHES_AT_ONCE) return asked;
  throw new UnfittingAnswerError(
    `This command asks for ${asked.length} branches; at most ${BRANCHES_AT_ONCE} can start at once.`,
  );
}

function fanSettings({ agent, mode }: Command<"branch.fan">, model: string | undefined): TurnSettings {
  return { agent, mode, ...(model !== undefined && { model }) };
}

/** Rejects with `WorktreeError` if the command requires worktrees and they cannot be made. */
async function worktreesFor(
  { worktrees, ...how }: Command<"branch.fan">,
  live: LiveConversation,
  desk: Workplace,
): Promise<{ readonly worktrees?: Worktrees; readonly problems: readonly string[] }> {
  const { host } = desk;
  if (worktrees === false || (!worktrees && host.workspace === undefined)) return { problems: [] };
  if (worktrees) return { worktrees: host.worktrees, problems: [] };
  const { tools = [] } = (await agentForTurn(desk, live, how)).options;
  const writes =
    host.approval !== "plan" && tools.some(({ files, effects }) => files === "write" || effects === "external");
  if (!writes) return { problems: [] };
  try {
    await host.worktrees.repository();
    return { worktrees: host.worktrees, problems: [] };
  } catch (error) {
    if (!(error instanceof WorktreeError)) throw error;
    return { problems: [`All branches change the same files, because worktrees cannot be made: ${error.message}`] };
  }
}

/** The result of a command that was carried out before, perhaps by a server that has ended. */
function toldAgain(asked: readonly string[], { session: { state } }: LiveConversation) {
  return (message: { readonly id: string } | undefined, index: number) => {
    if (!message) return [];
    const worktree = worktreeAt(state, message.id);
    return [{ message: message.id, model: asked[index] ?? "", ...(worktree !== undefined && { worktree }) }];
  };
}
