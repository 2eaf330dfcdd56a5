import { resume } from "@banyan/core";
import type { Command } from "./command.ts";

export const resumeCommand: Command = {
  name: "resume",
  help: "go on with what was interrupted, and with what was held",
  run: () => ({ type: "turn", directive: resume() }),
};
