import { type AgentFlags, withAgentFlags } from "../program/agent-flags.ts";
import type { CommandLine } from "../program/parse.ts";

/** Options of `banyan acp`. An option that the user omitted is absent. */
export interface AcpArguments extends AgentFlags {
  /**
   * Address of a server to join. `true`: the server of the session's directory, or else the only server of this
   * machine.
   */
  readonly attach?: string | true;
}

const MORE = `
Your editor starts this command and talks to it over standard input and output.
The command ends with the editor. With --attach, the editor and the page show the
same conversations of a running banyan serve (set BANYAN_TOKEN for a server on
another machine). docs/editors.md describes the setup for Zed, JetBrains, Neovim,
Emacs and VS Code.`;

export const acpLine: CommandLine<AcpArguments> = {
  define: (command, read) =>
    withAgentFlags(
      command
        .description("Serve an editor over the Agent Client Protocol (ACP) on standard input and output.")
        .option("--attach [address]", "join a running banyan serve: at this address, or the server of the directory"),
      "the projects that sessions are in",
    )
      .addHelpText("after", MORE)
      .action((wanted: AcpArguments) => {
        const flag = flagOf(wanted);
        if (wanted.attach !== undefined && flag !== undefined)
          command.error(`--${flag} does not go with --attach: the server has settings of its own.`);
        read(wanted);
      }),
};

/** Returns the first flag that a server would ignore, because the server has its own agent. */
function flagOf({ trust, ...flags }: AgentFlags): string | undefined {
  const list = (["allow", "deny", "network"] as const).find((name) => flags[name].length > 0);
  if (list) return list;
  const named = (["model", "rules", "approval", "unconfined"] as const).find((name) => flags[name] !== undefined);
  return named ?? (trust ? "trust" : undefined);
}
