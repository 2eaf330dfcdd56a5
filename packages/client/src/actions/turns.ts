import { type LiveGoal, lastAssistantMessage, lastUserMessage, pathTo, standingLeaf } from "@banyan/core/conversation";
import type { Say } from "@banyan/core/shown";
import { compactedLine } from "../words/amounts.ts";
import { goalLines, openGoals } from "../words/goal-lines.ts";
import { instructionsRequest, lastFindings, mendingRequest, REVIEWER, reviewRequest } from "../words/ready-made.ts";
import {
  type Action,
  type ActionContext,
  ActionRefusal,
  type ActionStep,
  conversationCommand,
  message,
  textView,
  view,
} from "./action.ts";
import { quoteForUser } from "./named-targets.ts";

export const turnActions: readonly Action[] = [
  {
    name: "retry",
    arguments: "[text]",
    help: "Ask again, with the same words or with new words",
    needs: { right: "turn.retry", idle: "turn" },
    read(text, { state, leaf, say }) {
      const question = lastUserMessage(pathTo(state, standingLeaf(state, leaf)));
      if (!question) throw new ActionRefusal(say("There is nothing to retry: there are no messages yet."));
      return { type: "turn", turn: "retry", at: question.id, ...(text !== "" && { text }) };
    },
  },
  {
    name: "resume",
    aliases: ["chat", "sessions"],
    arguments: { terminal: "[name]" },
    help: "Continue an interrupted answer and send held messages",
    needs: { right: "turn.resume", idle: "turn" },
    read(name, context) {
      if (context.client === "terminal" && (name !== "" || !hasUnfinishedTurn(context)))
        return textView("conversations", name);
      return { type: "turn", turn: "resume" };
    },
  },
  {
    name: "review",
    givesWay: true,
    arguments: "[branch | commit | a..b]",
    help: "Have another agent review changes; that agent cannot change files",
    needs: { right: "turn.retry", idle: "turn" },
    read(of, { state, say }) {
      if (/\s/.test(of))
        throw new ActionRefusal(say("Give one branch, one commit or a range, as in /review main..work."));
      const [first] = state.children.get(null) ?? [];
      const said = { type: "turn", text: reviewRequest(of), agent: REVIEWER } as const;
      // The review is a branch from the root, so that the reviewer does not see how the changes were made.
      return first === undefined ? { ...said, turn: "say" } : { ...said, turn: "retry", at: first };
    },
  },
  {
    name: "findings",
    arguments: "[n]",
    help: "List the findings of the last review, or have the agent fix a finding",
    needs: { right: "turn.say", idle: "turn" },
    read(number, { state, leaf, say }) {
      const found = lastFindings(state, leaf);
      if (number === "") return view("findings");
      if (found === undefined)
        throw new ActionRefusal(say("Nothing was reviewed in this conversation. /review starts a review."));
      const finding = /^\d+$/.test(number) ? found[Number(number) - 1] : undefined;
      if (!finding)
        throw new ActionRefusal(
          say("There is no finding {number}. /findings lists the findings.", { number: quoteForUser(number) }),
        );
      // The reviewer wrote the text, so no files that it names are attached.
      return { type: "turn", turn: "say", ...mendingRequest(state, finding), asIs: true };
    },
  },
  {
    name: "init",
    givesWay: true,
    arguments: "[what matters]",
    help: "Have the agent create AGENTS.md for this project",
    needs: { right: "turn.say", idle: "turn" },
    read: (matters) => ({ type: "turn", turn: "say", text: instructionsRequest(matters) }),
  },
  {
    name: "goal",
    arguments: "[!command | tests pass | condition]",
    help: "Have the agent work until Banyan finds that a condition is true",
    needs: { right: "turn.say", idle: "turn" },
    read(written, { state, leaf, say }) {
      const [wanted = "", ...work] = written.split("\n");
      if (wanted === "") return message(...openGoalLines(openGoals(state, leaf), say));
      if (wanted.trim() === "!") throw new ActionRefusal(say("Write a command, as in /goal !npm test."));
      const text = work.join("\n").trim();
      const goal = wanted.trim();
      return { type: "turn", turn: "say", text: text === "" ? `Reach this goal: ${goal}` : text, goal: [goal] };
    },
  },
  {
    name: "compact",
    aliases: ["compress"],
    arguments: "[what to keep]",
    help: "Summarize the conversation so far for the model",
    needs: { right: "branch.compact", idle: "turn" },
    read(keep, { leaf, say }) {
      if (leaf === null) throw new ActionRefusal(say("There are no messages yet."));
      if (keep.length > 10_000) throw new ActionRefusal(say("Describe what to keep in at most 10,000 characters."));
      return conversationCommand("branch.compact", { at: leaf, ...(keep !== "" && { keep }) }, (result) => {
        const { summary, compaction, problem } = result;
        if (problem !== undefined)
          return message(say("Not compacted: {problem}", { problem: problem.replaceAll(/\s+/g, " ") }));
        return {
          ...message(
            compaction ? compactedLine(compaction, say) : say("Compacted."),
            say("All messages stay in the tree."),
          ),
          ...(summary !== undefined && { goOn: { end: summary } }),
        };
      });
    },
  },
  {
    name: "waiting",
    arguments: "[drop n | edit n text | first n | send]",
    help: "List your messages that the agent has not received yet",
    needs: { right: "input.edit" },
    read(argument, context) {
      const { state, say } = context;
      if (argument === "") return state.inbox.length === 0 ? message(say("No message waits.")) : view("waiting");
      const [, action = "", number, text = ""] = /^(\S*)(?:\s+#?(\d+))?(?:\s+(.*))?$/s.exec(argument) ?? [];
      if (!["drop", "edit", "first", "send"].includes(action))
        throw new ActionRefusal(
          say("/waiting does not know {action}. It knows drop, edit, first and send.", {
            action: quoteForUser(action),
          }),
        );
      if (state.inbox.length === 0) throw new ActionRefusal(say("No message waits."));
      if (action === "send") return sendHeld(context, argument);
      const input = number === undefined ? undefined : state.inbox[Number(number) - 1];
      if (!input)
        throw new ActionRefusal(
          say("Give the number of a message, as in /waiting {action} 1. /waiting lists the messages.", { action }),
        );
      if (action === "edit") {
        if (text.trim() === "")
          throw new ActionRefusal(say("Write the new text after the number. /waiting drop withdraws the message."));
        return conversationCommand("input.edit", { input: input.id, parts: [{ type: "text", text }] }, () =>
          view("waiting"),
        );
      }
      if (text !== "") throw new ActionRefusal(say("/waiting {action} takes one number.", { action }));
      if (action === "drop")
        return conversationCommand("input.withdraw", { input: input.id }, () =>
          message(say("Message {number} is withdrawn.", { number: number ?? "" })),
        );
      const [first] = state.inbox;
      if (!first || first.id === input.id) return view("waiting");
      return conversationCommand("input.edit", { input: input.id, before: first.id }, () => view("waiting"));
    },
  },
];

function hasUnfinishedTurn({ state, leaf }: ActionContext): boolean {
  if (state.inbox.length > 0) return true;
  const path = pathTo(state, leaf);
  const answer = lastAssistantMessage(path);
  return path.length > 0 && (answer !== path.at(-1) || answer?.finish !== "stop" || answer.calls.length > 0);
}

/** Delivers held messages: to the run on this branch, or in a turn of their own. */
function sendHeld({ state, run, say }: ActionContext, argument: string): ActionStep {
  if (argument !== "send")
    throw new ActionRefusal(say("/waiting send sends all held messages and takes nothing else."));
  if (run === undefined) return { type: "turn", turn: "resume" };
  const held = state.inbox.filter((input) => input.held).map(({ id }) => id);
  if (held.length === 0)
    throw new ActionRefusal(say("No message is held. The agent gets waiting messages automatically."));
  const sendFrom = (index: number): ActionStep => {
    const input = held[index];
    if (input === undefined)
      return message(say.count(held.length, "Sent {count} held message.", "Sent {count} held messages."));
    return conversationCommand("input.edit", { input, run }, () => sendFrom(index + 1));
  };
  return sendFrom(0);
}

function openGoalLines(goals: readonly LiveGoal[], say: Say): string[] {
  return goals.length === 0
    ? [say("There is no open goal. To set a goal, write for example /goal !npm test.")]
    : goalLines(goals, say);
}
