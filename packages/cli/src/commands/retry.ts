import { retry } from "@banyan/core";
import type { Command } from "./command.ts";

export const retryCommand: Command = {
  name: "retry",
  takes: "[text]",
  help: "ask again, in other words if you give some; both answers stay",
  run: (_context, argument) => ({ type: "turn", directive: argument === "" ? retry() : retry(argument) }),
};
