import type { Home } from "./banyan.ts";
import { Pty } from "./pty.ts";
import { serving, TOKEN } from "./serving.ts";

/** A way to connect a user's terminal to the agent. */
export interface TalkLink {
  readonly link: string;
  /** Opens the terminal with arguments for `banyan`. */
  open(place: Home, args: readonly string[], env: Readonly<Record<string, string>>): Promise<Pty>;
}

const here: TalkLink = { link: "here", open: async (place, args, env) => Pty.open(place, args, env) };

/** Flags with a value that concern the agent: a server takes them instead of the terminal. */
const OF_AGENT = new Set(["--allow", "--approval", "--model"]);

const atServer: TalkLink = {
  link: "at a server",
  async open(place, args, env) {
    const [ofServer, ofTerminal]: [string[], string[]] = [[], []];
    for (let at = 0; at < args.length; at++) {
      const flag = args[at] ?? "";
      if (OF_AGENT.has(flag)) ofServer.push(flag, args[++at] ?? "");
      else ofTerminal.push(flag);
    }
    const [, address] = await serving(place, env, ...ofServer);
    return Pty.open(place, ["attach", address, "--new", ...ofTerminal], { ...env, BANYAN_TOKEN: TOKEN });
  },
};

/** Tests must pass with each of these. */
export const links: readonly TalkLink[] = [here, atServer];
