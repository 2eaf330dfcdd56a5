import { visibleLine } from "@banyan/core/shown";
import { useState } from "react";
import { useConversation } from "../parts/conversation/use-conversation.ts";
import { Button } from "../parts/design/button.tsx";
import { ChangedFiles } from "../parts/diff/changed-files.tsx";
import { madeChange } from "../parts/diff/shown-file.ts";
import { usePage } from "../parts/page/page.ts";
import { useServerAnswer } from "../parts/page/use-server-answer.ts";
import { t, tCount } from "../parts/phrases/phrases.ts";

/** Paths that no snapshot has, to list at most. */
const LISTED = 8;

/**
 * Shows the files that a branch changed since another message, and restores those that the user chooses (E11). Files that
 * others changed are not chosen at first.
 */
export function RestoreFiles({
  leaf,
  to,
  onClose,
}: {
  readonly leaf: string;
  readonly to: string | null;
  onClose(): void;
}) {
  const { id: conversation } = useConversation();
  const page = usePage();
  const place = { conversation, leaf, ...(to !== null && { to }) };
  const { answer, problem } = useServerAnswer("file.compare", place);
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  if (problem !== undefined) return <p className="px-4 py-2 text-sm">{problem}</p>;
  if (!answer) return <p className="px-4 py-2 text-sm">{t("Reading …")}</p>;
  const { asOf, files, leftOut, processes } = answer;
  if (asOf === undefined || files.length === 0)
    return <p className="px-4 py-2 text-sm">{t("There are no files to restore.")}</p>;
  const chosen = files.filter(({ path, by, canRestore }) => canRestore && (by === "agent") !== turned.has(path));
  const turn = (path: string) => setTurned(new Set([path]).symmetricDifference(turned));
  const restore = async () => {
    const paths = chosen.map(({ path }) => path);
    const { changes, problems } = await page.connection.ask("file.rewind", { ...place, asOf, paths });
    onClose();
    const done = tCount(changes.length, "Restored {count} file.", "Restored {count} files.");
    return [done, ...problems].join(" ");
  };
  return (
    <div className="border-hair border-b px-4 py-2 text-sm">
      <ul className="max-h-40 overflow-y-auto">
        {files.map(({ path, by, canRestore }) => (
          <li key={path}>
            <label className="flex items-center gap-2">
              <input
                type="checkbox"
                disabled={!canRestore}
                checked={chosen.some((file) => file.path === path)}
                onChange={() => turn(path)}
              />
              <bdi className="font-mono text-xs">{visibleLine(path)}</bdi>
              {!canRestore && <span className="text-soft text-xs">{t("cannot be restored")}</span>}
              {canRestore && by !== "agent" && (
                <span className="text-soft text-xs">
                  {by === "both" ? t("also changed by others") : t("changed by others")}
                </span>
              )}
            </label>
          </li>
        ))}
      </ul>
      <ChangedFiles
        files={files.map((file) => madeChange(file, file.path))}
        name={t("Changed files")}
        height="max-h-60"
      />
      {leftOut.slice(0, LISTED).map(({ path }) => (
        <p key={path} className="text-soft text-xs">
          {t("No snapshot contains {path}.", { path: visibleLine(path) })}
        </p>
      ))}
      {processes > 0 && (
        <p className="text-soft text-xs">
          {tCount(
            processes,
            "{count} background command will be stopped.",
            "{count} background commands will be stopped.",
          )}
        </p>
      )}
      <p className="flex gap-2 pt-2">
        <Button look="main" isSmall disabled={chosen.length === 0} onClick={() => page.perform(restore)}>
          {t("Restore these files")}
        </Button>
        <Button isSmall onClick={onClose}>
          {t("Keep the files")}
        </Button>
      </p>
    </div>
  );
}
