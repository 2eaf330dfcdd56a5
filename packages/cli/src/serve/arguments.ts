import { InvalidArgumentError, Option } from "commander";
import { type AgentFlags, withAgentFlags } from "../program/agent-flags.ts";
import { list, wholeNumber } from "../program/flag-values.ts";
import type { CommandLine } from "../program/parse.ts";

/** Default port of `banyan serve`. */
export const PORT = 4180;

/** Options of `banyan serve`. An omitted option is absent. */
export interface ServeArguments extends AgentFlags {
  /** The port. 0 selects a free port. */
  readonly port: number;
  readonly host: string;
  readonly allowHost: readonly string[];
  readonly token?: string;
  readonly guestToken?: string;
  readonly open: boolean;
  readonly cwd?: string;
  readonly store?: string;
  /** This server's address for the other servers of the database. */
  readonly address?: string;
  /** Name of the machine that has the files for this server. */
  readonly machine?: string;
  readonly runs?: string;
  readonly redrive?: "resume" | "leave";
  /** When the server must stop, its runs have this many seconds to end by themselves. */
  readonly drain?: number;
}

const MORE = `
Without --host, only programs on this machine reach the server, and only with its
token. The token is kept, so that open pages stay signed in after a restart.
BANYAN_TOKEN sets another token, and BANYAN_GUEST_TOKEN a token for clients that may
only watch. BANYAN_STORE and BANYAN_RUNS set --store and --runs without showing them
in the list of processes. Servers that share a store need the same tokens
(docs/many-machines.md). docs/protocol.md describes how programs talk to a server.`;

export const serveLine: CommandLine<ServeArguments> = {
  define: (command, read) => {
    command
      .description("Serve the conversations of this machine to browsers and programs. Agents work in this directory.")
      .addOption(
        new Option("-p, --port <number>", "the port; 0 selects a free port")
          .argParser(port)
          .default(PORT, String(PORT)),
      )
      .option("--host <address>", "listen on this address; 0.0.0.0 lets other machines in", "127.0.0.1")
      .addOption(
        list("--allow-host <name>", "also accept requests to this host name, such as a proxy's name; can be repeated"),
      )
      .option("--token <token>", "the token that clients need (BANYAN_TOKEN keeps it out of the list of processes)")
      .option("--guest-token <token>", "a token for clients that may only watch")
      .option("--open", "show the page in the browser", false)
      .option("-C, --cwd <directory>", "work in this directory");
    withAgentFlags(command, "this project")
      .option(
        "--store <url>",
        "keep conversations in this PostgreSQL, with other servers: postgres://user@host/database",
      )
      .option(
        "--address <url>",
        "with --store: this server's address for the other servers, such as http://10.0.0.3:4180",
      )
      .option(
        "--machine <name>",
        "with --store: name of the machine whose files this server uses (default: the host's name)",
      )
      .option("--runs <engine>", "with --store: the engine that carries turns, such as restate=http://127.0.0.1:8080")
      .addOption(
        new Option("--redrive <policy>", "with --store: what to do with runs whose server died").choices([
          "resume",
          "leave",
        ]),
      )
      .addOption(
        new Option(
          "--drain <seconds>",
          "with --store: how long running turns may take when the server stops",
        ).argParser(wholeNumber(0)),
      )
      .addHelpText("after", MORE)
      .action(read);
  },
};

function port(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= 65_535)) throw new InvalidArgumentError("Use a number from 0 to 65535.");
  return value;
}
