import { ASK, type Command } from "./command.ts";

export const compact: Command = {
  name: "compact",
  help: "have the model sum up what was said so far; the summary stands for it from now on",
  async run({ host, session, leaf, goBack, style, write }) {
    if (!session || leaf === null) {
      write("Nothing has been said yet.");
      return ASK;
    }
    await host.ready();
    write(style.dim("Summing up; Ctrl-C stops it."));
    const problem = await host.agent.compact({ session, at: leaf });
    if (problem !== undefined) write(`Nothing was shortened: ${problem}`);
    else {
      // The summary is what the next message goes below.
      goBack();
      write("Shortened: a summary stands for what was said. All of it stays in the tree.");
    }
    return ASK;
  },
};
