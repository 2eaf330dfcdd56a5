import { Option } from "commander";
import type { CommandLine } from "../program/parse.ts";
import type { ColorChoice } from "../program/prompt-arguments.ts";

/** Options of `banyan attach`. An option that the user omitted is absent. */
export interface AttachArguments {
  /**
   * Address of the server, as the user typed it. Default: the server of this directory, or else the only server of this
   * machine.
   */
  readonly address?: string;
  /** Id, start of the id, or title. `true`: the user chooses. Default: the last conversation of this directory. */
  readonly resume?: string | true;
  /** The conversation's part of a page address, still percent-encoded. Use either this option or `resume`. */
  readonly piece?: string;
  readonly new: boolean;
  readonly color: ColorChoice;
  readonly plain: boolean;
}

const MORE = `
A server on this machine needs no token. For another machine, set BANYAN_TOKEN.
Work continues when you leave. Your own !commands run on this machine: in the
agent's folder if it is here, else in this directory.`;

export const attachLine: CommandLine<AttachArguments> = {
  define: (command, read) =>
    command
      .description(
        "Join a conversation on a banyan server, with the same messages, queue and approvals as on the page.",
      )
      .argument("[address]", "the server, such as http://127.0.0.1:4180, or the address of a conversation's page")
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
      .addHelpText("after", MORE)
      .action((address: string | undefined, { resume, ...options }: Omit<AttachArguments, "address">) =>
        read({ ...options, ...conversationAt(address, resume) }),
      ),
};

function conversationAt(
  address: string | undefined,
  resume: string | true | undefined,
): Pick<AttachArguments, "address" | "piece" | "resume"> {
  if (address !== undefined) {
    const { piece, ...server } = { address, ...addressed(address) };
    return resume === undefined ? { ...server, ...(piece !== undefined && { piece }) } : { ...server, resume };
  }
  if (resume === undefined) return {};
  // An address after --resume is no id: the user wants to choose a conversation on that server.
  const behind = typeof resume === "string" ? addressed(resume) : undefined;
  return behind && behind.piece === undefined ? { resume: true, ...behind } : (behind ?? { resume });
}

/** Splits a browser's address into a server and perhaps a conversation. Returns undefined for other text. */
function addressed(text: string): Pick<AttachArguments, "address" | "piece"> | undefined {
  const url = /^https?:\/\/\S+$/i.test(text) ? URL.parse(text) : null;
  const path = /^\/(?:c\/([^/]+))?$/.exec(url?.pathname ?? "");
  if (!url || !path) return undefined;
  const [, piece] = path;
  return piece === undefined ? { address: text } : { address: url.origin, piece };
}
