import { UNKNOWN } from "../match.ts";

/** The standard input of a command, as far as the script shows it. */
export type StandardInput =
  | { readonly kind: "none" }
  | { readonly kind: "file" }
  /** `text`: the input, or `UNKNOWN`. `source`: its spelling in the script. */
  | { readonly kind: "text"; readonly text: string; readonly source: string };

/** The commands and scripts that a command runs. */
export interface WrappedCommands {
  readonly commands: readonly InnerCommand[];
  /** Sources of scripts; `UNKNOWN` if not known. */
  readonly code: readonly string[];
  /** Files that the command writes because of its options. */
  readonly files: readonly (string | undefined)[];
}

export interface InnerCommand {
  readonly words: readonly string[];
  readonly assignments: readonly string[];
  /** The index of the command's name among the outer command's words; undefined if words were added. */
  readonly at?: number;
}

/** Rules that find the inner command among a wrapper's arguments. */
interface Wrapper {
  /** Options whose value is the next word. */
  readonly values?: readonly string[];
  /** Number of words between the options and the command, such as a duration or a lock file. */
  readonly skip?: number;
  /** True if assignments may come before the command. */
  readonly assignments?: boolean;
  /** True if the wrapper appends words from its input to the command. */
  readonly appends?: boolean;
  /** Options with a script as their value. */
  readonly code?: readonly string[];
  /** True if the words together form a script. */
  readonly joins?: boolean;
  /** Options that make the wrapper run nothing. */
  readonly looks?: readonly string[];
}

const SUDO = {
  assignments: true,
  values: [
    "-u",
    "-g",
    "-h",
    "-p",
    "-C",
    "-D",
    "-R",
    "-T",
    "-U",
    "-r",
    "-t",
    "--user",
    "--group",
    "--host",
    "--prompt",
    "--chdir",
    "--role",
    "--type",
  ],
};

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  "--": {},
  builtin: {},
  busybox: {},
  caffeinate: { values: ["-t", "-w"] },
  chroot: { skip: 1, values: ["--userspec", "--groups"] },
  chrt: { skip: 1, values: ["-T", "-P", "-D"] },
  command: { looks: ["-v", "-V"] },
  doas: { values: ["-u", "-C"] },
  env: { assignments: true, values: ["-u", "--unset", "-C", "--chdir"], code: ["-S", "--split-string"] },
  exec: { values: ["-a"] },
  fakeroot: { values: ["-l", "-s", "-i", "-b", "--lib", "--faked"] },
  flock: { skip: 1, values: ["-w", "--timeout", "-E"], code: ["-c", "--command"] },
  ionice: { values: ["-c", "-n", "-p", "--class", "--classdata"] },
  nice: { values: ["-n", "--adjustment"] },
  nohup: {},
  nsenter: { values: ["-t", "-S", "-G", "--target"] },
  parallel: { joins: true, appends: true },
  runuser: { values: ["-u", "-g", "-G"], code: ["-c", "--command"] },
  script: { skip: 1, code: ["-c", "--command"] },
  setarch: { skip: 1 },
  setsid: {},
  stdbuf: { values: ["-i", "-o", "-e"] },
  strace: { values: ["-e", "-o", "-p", "-s", "-u", "-E", "-a", "-P", "-O", "-S"] },
  su: { skip: 1, code: ["-c", "--command"] },
  sudo: SUDO,
  "systemd-run": { values: ["-u", "-p", "--unit", "--property"] },
  taskset: { skip: 1 },
  time: { values: ["-f", "-o", "--format", "--output"] },
  timeout: { skip: 1, values: ["-s", "-k", "--signal", "--kill-after"] },
  toybox: {},
  unshare: { values: ["-R", "-w", "-S", "-G"] },
  watch: { joins: true, values: ["-n", "--interval"] },
  "xvfb-run": { values: ["-n", "-s", "--server-num", "--server-args"] },
  xargs: {
    appends: true,
    values: [
      "-I",
      "-n",
      "-P",
      "-L",
      "-s",
      "-d",
      "-E",
      "-a",
      "--max-args",
      "--max-procs",
      "--replace",
      "--delimiter",
      "--arg-file",
    ],
  },
};

const SHELLS: ReadonlySet<string> = new Set(["bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"]);

/** Returns the name of a program without its folder. */
export function programOf(words: readonly string[]): string {
  const [name = ""] = words;
  return name.slice(name.lastIndexOf("/") + 1);
}

/** Returns the commands that a command runs; undefined if it is not known to run any. */
export function wrappedCommands(words: readonly string[], input: StandardInput): WrappedCommands | undefined {
  const program = programOf(words);
  if (SHELLS.has(program)) return shellRuns(words, input);
  switch (program) {
    case ".":
    case "source":
      // A file that exists runs like any other program, but the script's own input may be anything.
      return words[1]?.includes(UNKNOWN) || namesInput(words[1]) ? runsCode([codeFrom(input)]) : undefined;
    case "eval":
      return runsCode(words.length > 1 ? [joinedCode(words.slice(1))] : []);
    case "trap":
      return runsCode(words.filter((word, index) => index > 0 && !/^-[lp-]?$/.test(word)).slice(0, 1));
    case "alias":
      // Later words after the alias are appended to its value.
      return runsCode(
        words
          .slice(1)
          .flatMap((word) =>
            word.includes("=")
              ? [`${word.slice(word.indexOf("=") + 1)} "$@"`]
              : word.includes(UNKNOWN)
                ? [UNKNOWN]
                : [],
          ),
      );
    case "find":
      return findRuns(words);
    case "fd":
    case "fdfind":
      return runsCommands(commandsAfter(words, ["-x", "-X", "--exec", "--exec-batch"]));
  }
  const wrapper = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined;
  return wrapper && wrapperRuns(words, wrapper);
}

function wrapperRuns(words: readonly string[], wrapper: Wrapper): WrappedCommands | undefined {
  const code: string[] = [];
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") {
      at++;
      break;
    }
    if (!word.startsWith("-") || word === "-") break;
    if (wrapper.looks?.includes(word)) return undefined;
    // `-qc` is `-q -c`: only the last letter can take the next word as its value.
    const option = /^-[A-Za-z]+$/.test(word) ? `-${word.at(-1)}` : (word.split("=", 1)[0] ?? word);
    const attached = wrapper.code?.find((name) => name.length === 2 && word.startsWith(name) && word.length > 2);
    if (wrapper.code?.includes(option))
      code.push(asCode(word.includes("=") ? word.slice(option.length + 1) : (words[++at] ?? "")));
    else if (attached !== undefined) code.push(asCode(word.slice(2)));
    else if (wrapper.values?.includes(option) && !word.includes("=")) at++;
  }
  at += wrapper.skip ?? 0;
  // Options may follow the words that are skipped: `flock file -c code`, `su user -c code`.
  const later =
    wrapper.code === undefined ? -1 : words.findIndex((word, index) => index >= at && wrapper.code?.includes(word));
  if (later !== -1) return runsCode([...code, asCode(words[later + 1] ?? "")]);
  const assignments: string[] = [];
  if (wrapper.assignments) {
    for (; /^\w+=/.test(words[at] ?? ""); at++) assignments.push(words[at] ?? "");
  }
  const rest = words.slice(at);
  if (rest.length === 0) return runsCode(code);
  if (wrapper.joins) return runsCode([...code, joinedCode(wrapper.appends ? [...rest, UNKNOWN] : rest)]);
  if (!wrapper.appends) return { commands: [{ words: rest, assignments, at }], code, files: [] };
  const filled = rest.map((word) =>
    placeholders(words.slice(1, at)).reduce((filling, mark) => filling.replaceAll(mark, UNKNOWN), word),
  );
  return { commands: [{ words: [...filled, UNKNOWN], assignments }], code, files: [] };
}

/** Placeholders that xargs replaces with words of its input. */
function placeholders(options: readonly string[]): string[] {
  return [
    "{}",
    ...options.flatMap((option, index) =>
      option === "-I" ? [options[index + 1] ?? ""] : option.startsWith("-I") ? [option.slice(2)] : [],
    ),
  ].filter((mark) => mark !== "");
}

function shellRuns(words: readonly string[], input: StandardInput): WrappedCommands | undefined {
  let takesCode = false;
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--" || word === "-") {
      at++;
      break;
    }
    if (word.startsWith(UNKNOWN)) return runsCode([UNKNOWN]);
    if (!/^[-+]/.test(word)) break;
    if (/^-[a-zA-Z]*c/.test(word)) takesCode = true;
    if (/^[-+][a-zA-Z]*[oO]$/.test(word) || word === "--rcfile" || word === "--init-file") at++;
  }
  const first = words[at];
  if (takesCode) return runsCode([asCode(first ?? "")]);
  const readsInput =
    first === undefined || namesInput(first) || words.some((word, index) => index < at && /^-[a-zA-Z]*s/.test(word));
  return readsInput ? runsCode([codeFrom(input)]) : undefined;
}

/** Returns whether a word names an open file of the process, perhaps its standard input. */
export function namesInput(word: string | undefined): boolean {
  return word?.includes("/") === true && /\/dev\/(?:std(?:in|out|err)|fd\/)|\/proc\/[\w-]+\/fd\//.test(word);
}

function codeFrom(input: StandardInput): string {
  return input.kind === "text" ? input.text : UNKNOWN;
}

function findRuns(words: readonly string[]): WrappedCommands | undefined {
  const commands = commandsAfter(words, ["-exec", "-execdir", "-ok", "-okdir"]);
  if (words.includes("-delete")) commands.push({ words: ["rm", UNKNOWN], assignments: [] });
  const files = words.flatMap((word, index) =>
    /^-f(?:print[0f]?|ls)$/.test(words[index - 1] ?? "") ? [word.includes(UNKNOWN) ? undefined : word] : [],
  );
  return commands.length + files.length === 0 ? undefined : { commands, code: [], files };
}

/** The commands between one of the options and `;` or `+`. */
function commandsAfter(words: readonly string[], options: readonly string[]): InnerCommand[] {
  return words.flatMap((word, index) => {
    if (!options.includes(word)) return [];
    const end = words.findIndex((candidate, at) => at > index && (candidate === ";" || candidate === "+"));
    const inner = words.slice(index + 1, end === -1 ? undefined : end).map((piece) => piece.replaceAll("{}", UNKNOWN));
    return inner.length === 0 ? [] : [{ words: inner, assignments: [], at: index + 1 }];
  });
}

function runsCommands(commands: readonly InnerCommand[]): WrappedCommands | undefined {
  return commands.length === 0 ? undefined : { commands, code: [], files: [] };
}

function runsCode(code: readonly string[]): WrappedCommands {
  return { commands: [], code: code.map(asCode), files: [] };
}

function joinedCode(words: readonly string[]): string {
  return asCode(words.join(" "));
}

function asCode(text: string): string {
  return text.includes(UNKNOWN) ? UNKNOWN : text;
}
