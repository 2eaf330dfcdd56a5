import { useEffect, useState } from "react";
import { usePage, usePageState } from "../page.ts";

/** Examples that are offered. */
const OFFERED = 3;
/** Files of the workspace that are looked at for them. */
const LOOKED_AT = 60;

/** Three things to ask that can be done in this workspace, with its own files; a click writes one, and sends nothing (W63). */
export function Examples({ onChoose }: { onChoose(example: string): void }) {
  const { connection } = usePage();
  const welcome = usePageState((state) => (state.connection.phase === "open" ? state.connection.welcome : undefined));
  const isDemo = welcome?.settings.model.startsWith("demo/") ?? false;
  const [files, setFiles] = useState<readonly string[]>();
  const workspace = welcome?.workspace;
  useEffect(() => {
    if (workspace === undefined) return;
    let isWanted = true;
    connection.ask("file.find", { query: "", limit: LOOKED_AT }).then(
      (found) => {
        if (isWanted) setFiles(found.files);
      },
      () => {
        // Without them, there are those that need no file.
        if (isWanted) setFiles([]);
      },
    );
    return () => {
      isWanted = false;
    };
  }, [connection, workspace]);
  return (
    // They have their place before they are known: nothing moves below the pointer.
    <ul aria-label="Examples" className="flex min-h-9 flex-wrap justify-center gap-2">
      {files &&
        examplesFor(files, isDemo).map((example) => (
          <li key={example}>
            <button
              type="button"
              onClick={() => onChoose(example)}
              className="min-h-8 rounded-full border border-hair bg-surface px-3 py-1 text-sm text-soft hover:border-line hover:text-ink"
            >
              {example}
            </button>
          </li>
        ))}
    </ul>
  );
}

/** Examples with the files of a workspace; for the demo, in words that its rules know. */
export function examplesFor(files: readonly string[], isDemo: boolean): readonly string[] {
  const plain = files.filter((path) => !path.endsWith("/") && !/\s/.test(path));
  const readme = plain.find((path) => /^readme(\.\w+)?$/i.test(path));
  const code = plain.find((path) => /\.(ts|tsx|js|jsx|py|go|rs|java|rb|c|cpp|cs|php|swift|kt)$/.test(path));
  const folder = files.find((path) => path.endsWith("/"))?.replace(/\/$/, "");
  const about = readme ?? plain[0];
  const demo = [
    about && `read ${about}`,
    folder && `list the files in ${folder}`,
    `search for TODO in ${folder ?? "."}`,
    'create notes.txt with "buy milk"',
    "what can you do?",
  ];
  const real = [
    about && `What is this project about? Begin with ${about}`,
    code && `Explain ${code}, and what you would change`,
    files.length > 0 && "Find the places that say TODO, and list them by how much they matter",
    "Make a page hello.html that greets by the time of day",
    "Which programs are there on this machine to build software with?",
    "What can you do here?",
  ];
  return (isDemo ? demo : real).filter((example) => typeof example === "string").slice(0, OFFERED);
}
