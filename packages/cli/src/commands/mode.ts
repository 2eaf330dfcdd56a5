import { ASK, type Command, type ConversationContext } from "./command.ts";

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
