import { type Say, visibleLine } from "@banyan/core/shown";
import type { Result } from "@banyan/protocol";
import {
  type ActionContext,
  ActionRefusal,
  type ActionStep,
  conversationCommand,
  message,
  textView,
} from "./action.ts";
import { readNamedMessage } from "./named-targets.ts";

type Comparison = Result<"file.compare">;
type ComparedPath = Comparison["files"][number];

/** Maximum lines: of all diffs together, and of a list. */
const MOST = { diff: 200, listed: 40 };

/**
 * Reads `/undo`. Without arguments, `/undo` restores the files before the last turn. `to #n` compares the files with
 * their state at a message (E11, T66). `to #n now` and `to #n all` restore that state. `rewind` restores the files
 * before the latest rewind. Returns undefined for other arguments.
 */
export function readRewind(argument: string, context: ActionContext): ActionStep | undefined {
  const { leaf, say } = context;
  const [, to] = /^to\b\s*(.*)$/s.exec(argument) ?? [];
  if (argument === "") return leaf === null ? undefined : turnStep(leaf, say);
  if (to === undefined && argument !== "rewind") return undefined;
  if (leaf === null) throw new ActionRefusal(say("There are no messages yet."));
  if (to === undefined) return restoreStep({ leaf, undo: true }, () => true, say);
  const { message: target, number, rest } = readNamedMessage(context, to);
  const place = { leaf, to: target.id };
  switch (rest) {
    case "":
      return conversationCommand("file.compare", place, (comparison) => comparisonStep(comparison, number, say));
    case "now":
      return restoreStep(place, ({ by }) => by === "agent", say);
    case "all":
      return restoreStep(place, () => true, say);
    default:
      throw new ActionRefusal(
        say(
          "/undo to {number} shows the files. Add “now” to restore the files. Add “all” to restore also the files that others changed.",
          {
            number,
          },
        ),
      );
  }
}

/** Takes back the last turn that changed files. Without its snapshots, the client takes back the last change. */
function turnStep(leaf: string, say: Say): ActionStep {
  return conversationCommand("file.compare", { leaf, turn: true }, ({ asOf, files, to }) => {
    const isWanted = ({ by, canRestore }: ComparedPath) => by === "agent" && canRestore;
    const paths = files.filter(isWanted).map(({ path }) => path);
    if (asOf === undefined || paths.length === 0) return textView("undo", "");
    const place = { leaf, ...(to !== undefined && { to }) };
    const stay = files.filter((file) => !isWanted(file));
    return conversationCommand("file.rewind", { ...place, asOf, paths }, ({ changes, problems, message: end }) => ({
      ...message(
        ...shortened(
          stay.map((file) => say("Not undone: {file}", { file: fileLine(file, say) })),
          MOST.listed,
          say,
        ),
      ),
      undone: changes,
      problems,
      advice: say(
        "Your next message also tells the agent about the undone changes. /undo rewind brings the changes back.",
      ),
      ...(end !== undefined && { goOn: { end } }),
    }));
  });
}

function restoreStep(
  place: { readonly leaf: string; readonly to?: string; readonly undo?: true },
  isWanted: (file: ComparedPath) => boolean,
  say: Say,
): ActionStep {
  return conversationCommand("file.compare", place, ({ asOf, files }) => {
    const paths = files.filter((file) => file.canRestore && isWanted(file)).map(({ path }) => path);
    if (asOf === undefined || paths.length === 0) return message(say("There are no files to restore."));
    return conversationCommand("file.rewind", { ...place, asOf, paths }, ({ changes, problems, message: end }) => ({
      ...message(
        say.count(changes.length, "Restored {count} file.", "Restored {count} files."),
        ...(changes.length > 0 ? [say("/undo rewind brings the changes back.")] : []),
      ),
      problems,
      ...(end !== undefined && { goOn: { end } }),
    }));
  });
}

/** Lists the changed files with their diffs, and what no rewind restores. */
function comparisonStep({ files, leftOut, processes }: Comparison, number: string, say: Say): ActionStep {
  if (files.length === 0) return message(say("The files have not changed since {number}.", { number }));
  const restorable = files.filter(({ canRestore }) => canRestore);
  const own = restorable.filter(({ by }) => by === "agent");
  const others = restorable.length - own.length;
  const diffs = files.flatMap(({ diff }) => (diff === "" ? [] : diff.trimEnd().split("\n").map(visibleLine)));
  return {
    ...message(
      say.count(files.length, "{count} path changed since {number}:", "{count} paths changed since {number}:", {
        number,
      }),
      ...shortened(
        files.map((file) => `  ${fileLine(file, say)}`),
        MOST.listed,
        say,
      ),
      ...shortened(diffs, MOST.diff, say),
      ...leftOut
        .slice(0, MOST.listed)
        .map(({ path }) => say("No snapshot contains {path}.", { path: visibleLine(path) })),
      ...(processes > 0
        ? [
            say.count(
              processes,
              "{count} background command will be stopped.",
              "{count} background commands will be stopped.",
            ),
          ]
        : []),
    ),
    advice: [
      ...(own.length > 0 ? [say("/undo to {number} now restores what the agent changed.", { number })] : []),
      ...(others > 0 ? [say("/undo to {number} all also restores what others changed.", { number })] : []),
    ].join(" "),
  };
}

function fileLine({ path, kind, added, removed, by, canRestore }: ComparedPath, say: Say): string {
  const line = `${kindWord(kind, say)} +${added} -${removed} ${visibleLine(path)}`;
  if (!canRestore) return `${line} (${say("cannot be restored")})`;
  return by === "agent"
    ? line
    : `${line} (${by === "both" ? say("also changed by others") : say("changed by others")})`;
}

function kindWord(kind: ComparedPath["kind"], say: Say): string {
  if (kind === "created") return say("created");
  return kind === "changed" ? say("changed") : say("deleted");
}

function shortened(lines: readonly string[], most: number, say: Say): string[] {
  const more = lines.length - most;
  if (more <= 0) return [...lines];
  return [...lines.slice(0, most), say.count(more, "… ({count} more line)", "… ({count} more lines)")];
}
