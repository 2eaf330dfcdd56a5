import { say } from "@banyan/core";
import type { Command, ConversationContext } from "./command.ts";

export const init: Command<ConversationContext> = {
  name: "init",
  givesWay: true,
  takes: "[what matters]",
  help: "have the agent look around and write the project's AGENTS.md, which agents are told before every conversation",
  run(_context, argument) {
    return { type: "turn", directive: say(argument === "" ? TEXT : `${TEXT}\n\nWhat matters most to me: ${argument}`) };
  },
};

const TEXT = `Write AGENTS.md at the top of this project: what an agent must know that works here for the first time, and cannot see at once.

Look around first: the README, the manifests of packages, the settings of builds and CI, the layout of folders, some of the code and its tests. If there is an AGENTS.md, or a file like it for another program (CLAUDE.md, GEMINI.md, .cursorrules), keep what is true in it.

Say, in at most 60 lines: what it is, in a sentence; how to install, build, run, check and test it, with the command for a single test; how it is laid out, where that is not plain; the rules of style and design that its code keeps; what is easy to get wrong. Write only what you have seen. Try a command before you name it, where that is quick and changes nothing. Then tell me what you were not sure of.`;
