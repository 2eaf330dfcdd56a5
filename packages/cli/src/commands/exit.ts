import type { Command } from "./command.ts";

export const exit: Command = {
  name: "exit",
  help: "leave; the conversation stays",
  run: () => ({ type: "leave" }),
};
