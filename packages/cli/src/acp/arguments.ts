import type { ApprovalMode } from "@banyan/host";
import { Command, Option } from "commander";
import { parse, type Unread } from "../parse.ts";

/** What a line of `banyan acp` says; what it leaves out is absent. */
export interface AcpArguments {
  /** Join a server: the one at this address; `true`: the one of the session's directory, or the only one of this machine. */
  readonly attach?: string | true;
  readonly model?: string;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly rules?: string;
  readonly approval?: ApprovalMode;
  readonly unconfined?: boolean;
  /** Use what the projects bring. */
  readonly trust: boolean;
}

const MORE = `
An editor starts this command, speaks the Agent Client Protocol with it over
standard input and output, and says in which directory each session works. It
ends with its editor. Alone, conversations are those of this machine; with
--attach they are those of a running banyan serve, so that the editor and the
page see one conversation (BANYAN_TOKEN for a server elsewhere). docs/editors.md
tells how to set up Zed, JetBrains, Neovim, Emacs and VS Code.`;

/** Reads what follows `banyan acp`, or says why it cannot be read. */
export function readAcp(argv: readonly string[]): { readonly type: "acp"; readonly arguments: AcpArguments } | Unread {
  const command = new Command("banyan acp")
    .description("Serves an editor over the Agent Client Protocol (ACP) on standard input and output.")
    .option("--attach [address]", "join a running banyan serve: the one at this address, or the one of the directory")
    .option("-m, --model <name>", "the model, as provider/model")
    .addOption(list("--allow <rule>", "run calls that this rule covers without asking, as in 'shell(npm test*)'"))
    .addOption(list("--deny <rule>", "never run calls that this rule covers"))
    .option("--rules <file>", "permission rules in a JSON file")
    .addOption(
      new Option("--approval <mode>", "what runs without asking: ask (only looking), edits, all").choices([
        "ask",
        "edits",
        "all",
      ]),
    )
    .option("--unconfined", "let --approval all hold where commands run without a sandbox too")
    .option("--trust", "use the settings, servers and instructions of the projects that sessions are in", false)
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", MORE)
    .allowExcessArguments(false);
  const unread = parse(command, argv);
  if (unread) return unread;
  const wanted = command.opts<AcpArguments>();
  const own = ["model", "rules", "approval", "unconfined"] as const;
  const alone = own.find((name) => wanted[name] !== undefined) ?? (wanted.trust ? "trust" : undefined);
  const rule = wanted.allow.length > 0 ? "allow" : wanted.deny.length > 0 ? "deny" : alone;
  if (wanted.attach !== undefined && rule !== undefined)
    return { type: "mistake", message: `--${rule} does not go with --attach: the server has settings of its own.` };
  return { type: "acp", arguments: wanted };
}

function list(flags: string, description: string): Option {
  return new Option(flags, description)
    .argParser((value: string, previous: readonly string[]) => [...previous, value])
    .default([], "none");
}
