import { t } from "../parts/phrases/phrases.ts";

const OFFERED = 3;

/** Returns example messages about files of the workspace; for the demo model, in words that its rules know. */
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
    about && t("What is this project about? Start with {about}", { about }),
    code && t("Explain {code}, and what you would change", { code }),
    files.length > 0 && t("Find the places that say TODO, and list them by how much they matter"),
    t("Make a page hello.html that greets by the time of day"),
    t("Which build tools are installed on this machine?"),
    t("What can you do here?"),
  ];
  return (isDemo ? demo : real).filter((example) => typeof example === "string").slice(0, OFFERED);
}
