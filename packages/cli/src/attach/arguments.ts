import { Command, Option } from "commander";
import type { ColorChoice } from "../arguments.ts";
import { parse, type Unread } from "../parse.ts";

/** What a line of `banyan attach` says; what it leaves out is absent. */
export interface AttachArguments {
  /** Where the server is, as it was typed; the one of this directory, or the only one of this machine, when absent. */
  readonly address?: string;
  /**
   * A conversation, by its id, the beginning of it, or its title; `true` to choose one; the last one of this directory
   * when absent.
   */
  readonly resume?: string | true;
  /** A conversation by its place in the address of a page, as it is written there; instead of `resume`. */
  readonly piece?: string;
  /** Begin a new conversation. */
  readonly new: boolean;
  readonly color: ColorChoice;
  readonly plain: boolean;
}

const MORE = `
A server on this machine needs no token. For another machine, set BANYAN_TOKEN.
Work continues when you leave. Your own !commands run on this machine: in the
agent's folder if it is here, else in this directory.`;

/** Reads what follows `banyan attach`, or says why it cannot be read. */
export function readAttach(
  argv: readonly string[],
): { readonly type: "attach"; readonly arguments: AttachArguments } | Unread {
  const command = new Command("banyan attach")
    .description("Joins a conversation on a banyan server, with the same messages, queue and approvals as its page.")
    .argument("[address]", "such as http://127.0.0.1:4180, or the address of a conversation's page")
    .addOption(
      new Option(
        "-r, --resume [id]",
        "continue this conversation (id, start of an id, or title); without a name, choose from a list",
      ).conflicts("new"),
    )
    .option("--new", "start a new conversation", false)
    .addOption(
      new Option("--color <when>", "when to use colours (default: auto)")
        .choices(["auto", "always", "never"])
        .default("auto"),
    )
    .option("--plain", "plain lines: nothing is redrawn, choices have numbers", false)
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", MORE);
  const unread = parse(command, argv);
  if (unread) return unread;
  const [address] = command.args;
  const { resume, ...options } = command.opts<Omit<AttachArguments, "address">>();
  const behind = address === undefined && typeof resume === "string" ? addressed(resume) : undefined;
  const { piece, ...server } = address === undefined ? {} : { address, ...addressed(address) };
  const named = resume === undefined ? { ...server, ...(piece !== undefined && { piece }) } : { ...server, resume };
  // What stands behind --resume is no id, then: the person wants to choose there.
  return {
    type: "attach",
    arguments: {
      ...options,
      ...(behind ? (behind.piece === undefined ? { resume: true, ...behind } : behind) : named),
    },
  };
}

/** A server, or a conversation of one, by the address that a browser has for it; nothing for any other text. */
function addressed(text: string): Pick<AttachArguments, "address" | "piece"> | undefined {
  const url = /^https?:\/\/\S+$/i.test(text) ? URL.parse(text) : null;
  const path = /^\/(?:c\/([^/]+))?$/.exec(url?.pathname ?? "");
  if (!url || !path) return undefined;
  const [, piece] = path;
  return piece === undefined ? { address: text } : { address: url.origin, piece };
}
