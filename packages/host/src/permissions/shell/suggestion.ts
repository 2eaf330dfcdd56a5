import { UNKNOWN } from "../match.ts";
import { formatRule } from "../rule.ts";
import { allParts, type CommandPart } from "./part.ts";
import { programOf } from "./wrapper.ts";

/** Programs whose arguments decide everything: a rule for all their uses would allow anything. */
const NEVER_ALL: ReadonlySet<string> = new Set(
  "awk bun chmod chown chgrp cp crontab curl dd deno docker-compose ed ex expect gawk gdb install kill killall ln lua make mawk mkfs mount mv nc ncat nvim osascript php pkill powershell pwsh rm rmdir rsync sed shred shutdown reboot socat sqlite3 ssh scp tar tclsh tee telnet truncate umount vi vim wget xdg-open zip source . exec set export declare typeset readonly unset shopt enable hash read printf trap alias npx bunx uvx pipx dlx".split(
    " ",
  ),
);
const INTERPRETER = /^(?:python|pypy|node|ruby|perl|Rscript|java|(?:ba|da|z|k|mk|fi|c|tc|pw)?sh)[\d.]*$/;

/** Programs whose second word says what they do. */
const WITH_SUBCOMMANDS: ReadonlySet<string> = new Set(
  "apt apt-get brew bundle cargo composer conda dnf docker dotnet flutter gem gh git glab go gradle gradlew helm hg jj just kubectl mix mvn nix npm pip pip3 pnpm podman poetry pulumi rails rake rustup svn swift systemctl terraform turbo uv yarn".split(
    " ",
  ),
);

/** The rule that an answer "always" would set for a command: it and its like, or it alone; undefined where a rule could not say it. */
export function commandSuggestion(part: CommandPart): string | undefined {
  const { words, assignments, runs } = part;
  const [name = "", second = "", third = ""] = words;
  const program = programOf(words);
  const plain = (word: string): boolean => /^[A-Za-z][\w:.-]*$/.test(word);
  if (
    assignments.length > 0 ||
    runs !== undefined ||
    NEVER_ALL.has(program) ||
    INTERPRETER.test(program) ||
    !/^[\w./-]+$/.test(name)
  )
    return exact(part);
  if (!WITH_SUBCOMMANDS.has(program)) return shellRule(`${name} *`);
  if (!plain(second)) return exact(part);
  if (second !== "run" && second !== "exec") return shellRule(`${name} ${second} *`);
  return second === "run" && plain(third) ? shellRule(`${name} run ${third} *`) : exact(part);
}

function exact(part: CommandPart): string | undefined {
  if (part.runs !== undefined && [...allParts(part.runs.parts)].some((inner) => inner.kind === "opaque"))
    return undefined;
  const text = [...part.assignments, ...part.words].join(" ");
  const fits =
    !text.includes(UNKNOWN) &&
    !text.includes("*") &&
    !text.includes("\n") &&
    text.length <= 500 &&
    !/[ \t]/.test(part.words[0] ?? "");
  // A rule is trimmed when it is read, so a text with blanks at its ends would not come back as it was.
  return fits && text !== "" && text === text.trim() ? shellRule(text) : undefined;
}

function shellRule(pattern: string): string {
  return formatRule({ tool: "shell", pattern });
}
