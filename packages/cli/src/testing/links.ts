import type { Home } from "./banyan.ts";
import { Pty } from "./pty.ts";
import { serving, TOKEN } from "./serving.ts";

/** A way from a person's terminal to the agent. */
export interface TalkLink {
  readonly link: string;
  /** Opens the terminal; `args` as `banyan` takes them. */
  open(place: Home, args: readonly string[], env: Readonly<Record<string, string>>): Promise<Pty>;
}

const here: TalkLink = { link: "here", open: async (place, args, env) => Pty.open(place, args, env) };

/** Flags, each with a value, that are about the agent: at a server they are the server's. */
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

/** The same list of tests is true of each. */
export const links: readonly TalkLink[] = [here, atServer];
