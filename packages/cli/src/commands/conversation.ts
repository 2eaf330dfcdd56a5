import { optionWords, ownCommand } from "@banyan/host/own-command";
import { approvalSentence } from "../chat/views/approval-mode.ts";
import { oneLine } from "../show/plain-text.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

export const title: Command<ConversationContext> = {
  name: "title",
  also: ["rename"],
  takes: "[text]",
  help: "give this conversation a title",
  anytime: true,
  async run({ redact, session, state, write }, argument) {
    if (!session || state.messages.size === 0) write("Nothing has been said yet.");
    else if (argument === "") write(oneLine(state.title ?? "It has no title."));
    else {
      await session.perform("conversation.rename", { title: oneLine(redact(argument)) });
      write(`This is “${oneLine(state.title ?? argument)}” now.`);
    }
    return ASK;
  },
};

export const clear: Command = {
  name: "clear",
  also: ["new"],
  help: "begin a new conversation; this one stays",
  async run(context) {
    const old = await context.begin();
    context.write(
      old === undefined
        ? "This conversation is new already."
        : `A new conversation. The old one stays: ${ownCommand(optionWords("--resume", old))}`,
    );
    return ASK;
  },
};

export const exit: Command<ConversationContext> = {
  name: "exit",
  also: ["quit"],
  help: "leave; the conversation stays",
  run: () => ({ type: "leave" }),
};

const SENTENCES = {
  chat: "Chat mode: an answer without calls is your turn.",
  task: "Task mode: what you say is worked on until it is finished.",
} as const;

export const mode: Command<ConversationContext> = {
  name: "mode",
  takes: "[chat | task]",
  help: "say how the agent works from the next message on: with you, or by itself until a task is finished",
  run({ mode: current, useMode, write }, argument) {
    if (argument === "chat" || argument === "task") {
      useMode(argument);
      write(SENTENCES[argument]);
    } else write(argument === "" ? SENTENCES[current] : "There are two modes: /mode chat and /mode task.");
    return ASK;
  },
};

export const approval: Command<ConversationContext> = {
  name: "approval",
  also: ["permissions", "approvals"],
  takes: "[plan | ask | edits | all | drop n]",
  help: "say what runs without asking you, until you leave; or take back a rule of this conversation",
  anytime: true,
  async run(context, argument) {
    const { approval: current, useApproval, write } = context;
    const [, dropped] = /^drop(?:\s+(.*))?$/.exec(argument) ?? [];
    if (argument === "") {
      write(approvalSentence(current), ...rulesHere(context));
      write("/approval and plan, ask, edits or all changes that; /config permissions shows your rules.");
    } else if (/^drop\b/.test(argument)) await dropRule(context, dropped ?? "");
    else if (argument === current) write(approvalSentence(current));
    else if (argument === "plan" || argument === "ask" || argument === "edits" || argument === "all")
      await useApproval(argument);
    else
      write(
        "It is one of plan (only looking, until you allow a plan), ask (only looking runs without asking), edits (changing files here too) and all.",
      );
    return ASK;
  },
};

/** What a person allowed for this conversation, a line each. */
function rulesHere({ state, style }: ConversationContext): string[] {
  if (state.allowed.length === 0) return [];
  const rules = state.allowed.map((rule, index) => `  ${style.bold(String(index + 1))}  ${oneLine(rule)}`);
  return ["You allowed in this conversation (/approval drop and a number takes it back):", ...rules];
}

async function dropRule({ session, state, write }: ConversationContext, number: string): Promise<void> {
  const pattern = /^\d+$/.test(number) ? state.allowed[Number(number) - 1] : undefined;
  if (pattern === undefined)
    write(
      state.allowed.length === 0
        ? "Nothing was allowed for this conversation."
        : "Name a rule by its number, as in /approval drop 1. /approval lists them.",
    );
  else {
    await session?.perform("rule.revoke", { pattern });
    write(`${oneLine(pattern)} is asked about again.`);
  }
}

/** Where others are asked too. */
export const approvalHere: Command<ConversationContext> = {
  ...approval,
  help: "say what runs without asking, for everybody at this server; or take back a rule of this conversation",
};
