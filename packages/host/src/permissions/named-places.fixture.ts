import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { say } from "@banyan/core";
import { call, scriptedModel, text } from "@banyan/core/testing";
import { openHost } from "../host/open-host.ts";
import { type Chance, chance } from "./shell/generated.fixture.ts";

/** The result of many writes to paths in all spellings. */
export interface NamedPlaces {
  /** One sentence for each path for which the question, the rule and the written file disagree. */
  readonly broken: readonly string[];
  readonly asked: number;
  readonly written: number;
  readonly unasked: number;
}

/** A path as a model may spell it, and the file that it means; none when it means no file of the workspace. */
interface Spelled {
  readonly path: string;
  readonly target?: string;
  /** The path leads through a link. Edit mode writes through links only if a rule allows it (S21). */
  readonly isLink?: boolean;
}

/** Writable files, relative to the workspace. A rule denies `locked`. */
const INSIDE = ["a.txt", "src/a.txt", "src/new.txt", "src/deep/b.txt", "src/cafe\u0301.txt", "src/caf\u00e9.txt"];
/** Files that exist at the start. Both of two look-alike names exist, so that each name only means its own file. */
const THERE = [...INSIDE.filter((path) => !path.includes("new")), "locked/a.txt", "src\\literal.txt"];
/** A file whose name differs from look-alike spellings (F81), and these spellings. */
const LOOKS_ALIKE = {
  file: "src/it\u2019s\u00a0na\u00efve.txt",
  spelled: ["src/it's nai\u0308ve.txt", "src/it\u2018s\u202fna\u00efve.txt"],
};
const LOCKED = ["locked/a.txt", "locked/new.txt"];
/** Files outside, relative to the home folder. */
const OUTSIDE = ["notes.md", "elsewhere/a.txt", "elsewhere/new.txt"];

/**
 * Lets a model write to `count` paths in a new folder `root`: half with approval `ask`, taking each offered rule, half with
 * `edits`. Compares the files on disk before and after to find out what was written.
 */
export async function writeToNamedPlaces(root: string, count: number, seed: number): Promise<NamedPlaces> {
  const random = chance(seed);
  const home = join(root, "home");
  const workspace = join(home, "project");
  for (const folder of ["src/deep", "locked"]) mkdirSync(join(workspace, folder), { recursive: true });
  for (const folder of ["elsewhere", "src"]) mkdirSync(join(home, folder), { recursive: true });
  for (const path of [...THERE, LOOKS_ALIKE.file]) writeFileSync(join(workspace, path), "before\n");
  for (const path of ["notes.md", "elsewhere/a.txt"]) writeFileSync(join(home, path), "before\n");
  symlinkSync("src", join(workspace, "inner"));
  symlinkSync(join(home, "elsewhere"), join(workspace, "out"));
  const env = { BANYAN_HOME: join(root, "own"), BANYAN_NO_DISCOVERY: "1", BANYAN_SANDBOX: "off", HOME: home };
  const counts = { asked: 0, written: 0, unasked: 0 };
  const broken: string[] = [];
  for (const approval of ["ask", "edits"] as const) {
    const flags = { model: "demo/offline", approval, deny: ["write(locked/**)", "edit_mode(locked/**)"] };
    const host = await openHost({ cwd: workspace, home, env, flags, canAsk: true });
    for (let done = 0; done < count / 2; done += 5) {
      const session = await host.newSession();
      /** Rules of the "always" answers in this conversation. */
      const rules: string[] = [];
      for (let turn = 0; turn < 5; turn += 1) {
        const spelled = spell(random, home, workspace);
        const tool = random.one(...["write", "write", "write", "edit_mode"]);
        const problem = await writeOne(tool, spelled, rules);
        if (problem) broken.push(`${approval}, ${tool} ${JSON.stringify(spelled.path)}: ${problem}`);
      }
      await session.close();

      async function writeOne(
        tool: string,
        { path, target, isLink = false }: Spelled,
        rules: string[],
      ): Promise<string | undefined> {
        const marker = `written ${random.below(1_000_000_000)}`;
        const before = filesIn(root);
        const model = scriptedModel(
          tool === "write"
            ? [[call("write", { path, content: `${marker}\n` })], "Done."]
            : [
                [call("edit_mode", { file_path: path, mode: "complete", overwrite: true })],
                [text(`\`\`\`txt:${path}\n${marker}\n\`\`\`\n`)],
                "Done.",
              ],
        );
        let shown: string[] | undefined;
        for await (const item of host.agent.with({ model, onTurn: undefined }).chat(say("Go on."), { session })) {
          if (item.type !== "call.approval-requested") continue;
          counts.asked += 1;
          if (!isSame(before, filesIn(root))) return "something was written before the answer";
          const asked = session.state.messages.get(item.message ?? "");
          const about = asked?.role === "assistant" ? asked.calls.find(({ id }) => id === item.call)?.about : undefined;
          shown = [...(about?.paths ?? []), ...(item.preview?.changes ?? [])].map((one) => one.path);
          if (item.pattern !== undefined) rules.push(item.pattern);
          const remember =
            item.pattern === undefined ? undefined : { pattern: item.pattern, scope: "conversation" as const };
          await session.answer(item.question, { decision: "allow", ...(remember && { remember }) });
        }
        const after = filesIn(root);
        const changed = [...after].filter(([file, content]) => before.get(file) !== content).map(([file]) => file);
        const made = [...after.keys()].filter((file) => !before.has(file));
        if (changed.length === 0)
          return made.length > 0 ? `it made ${made}` : missed(tool === "edit_mode" && isLink ? undefined : target);
        counts.written += 1;
        const [file = "", ...others] = changed.filter((one) => !one.endsWith("/"));
        if (others.length > 0) return `it wrote ${changed}`;
        if (!after.get(file)?.includes(marker)) return `it changed ${file}, but not to what was said`;
        if (!file.startsWith(`${workspace}/`)) return `it wrote ${file}, which is outside`;
        if (file.startsWith(`${workspace}/locked/`)) return `it wrote ${file}, which a rule forbids`;
        if (target !== undefined && file !== target) return `it wrote ${file}, and ${target} was meant`;
        if (shown === undefined) {
          counts.unasked += 1;
          if (approval === "edits" || rules.some((rule) => covers(rule, file, workspace))) return undefined;
          return `it wrote ${file} unasked, and only ${rules} was allowed`;
        }
        const places = shown.map((one) => realpathSync(isAbsolute(one) ? one : join(workspace, one)));
        return places.every((place) => place === file)
          ? undefined
          : `the question named ${shown}, and it wrote ${file}`;
      }

      function missed(target: string | undefined): string | undefined {
        return target === undefined ? undefined : `it wrote nothing, and ${target} was meant`;
      }
    }
    await host.close();
  }
  return { broken, ...counts };
}

/** Returns whether an offered rule names only this file or its folder. */
function covers(rule: string, file: string, workspace: string): boolean {
  const [, pattern = ""] = /^(?:write|edit_mode)\((.*)\)$/s.exec(rule) ?? [];
  const plain = pattern.replace(/\/\*\*$/, "").replaceAll(/\\(.)/g, "$1");
  const place = isAbsolute(plain) ? plain : join(workspace, plain);
  return pattern.endsWith("/**") ? file.startsWith(`${place}/`) : file === place;
}

/** Returns the content of every file below a folder, links not followed; folders end with a slash. Leaves out the program's own files. */
function filesIn(root: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (path.startsWith(join(root, "own")) || realpathSync(entry.parentPath) !== entry.parentPath) continue;
    if (entry.isDirectory()) found.set(`${path}/`, "");
    else if (entry.isFile()) found.set(path, readFileSync(path, "utf8"));
  }
  return found;
}

function isSame(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([path, text]) => other.get(path) === text);
}

/** A path to a file, spelled in one of many ways. */
function spell(random: Chance, home: string, workspace: string): Spelled {
  const { one, below } = random;
  const kind = below(10);
  if (kind === 0) return { path: impossible(random) };
  if (kind === 1) return { path: outside(random, home) };
  const inside = one(...(kind === 2 ? LOCKED : kind === 3 ? LOOKS_ALIKE.spelled : INSIDE));
  const target = kind === 2 ? undefined : join(workspace, kind === 3 ? LOOKS_ALIKE.file : inside);
  const detour = one(
    ...["", "./", ".//", "src/../", "src/./deep/../../", "inner/../", "../project/", "new-folder/../"],
  );
  const relative = detour + (inside.startsWith("src/") && below(4) === 0 ? inside.replace("src/", "inner/") : inside);
  const fromHome = `project/${relative}`;
  const whole = `${workspace}/${relative}`;
  const path = one(
    ...[
      relative,
      relative,
      whole,
      `~/${fromHome}`,
      `$HOME/${fromHome}`,
      `\${HOME}/${fromHome}`,
      `file://${escaped(random, whole)}`,
      `file://localhost${escaped(random, whole)}`,
      `~//${fromHome}`,
    ],
  );
  const spelled = path.startsWith("file:") || below(3) > 0 ? path : path.replaceAll("/", turned(random));
  return { path: spelled, isLink: /inner\/(?!\.\.)/.test(relative), ...(target !== undefined && { target }) };
}

/** Turns all separators, or some of them. */
function turned({ below }: Chance): (separator: string, at: number) => string {
  const all = below(2) === 0;
  // An absolute path that begins with a backslash would be a network share.
  return (separator, at) => (at > 0 && (all || below(2) === 0) ? "\\" : separator);
}

/** Percent-encodes some of the letters. */
function escaped({ below }: Chance, path: string): string {
  const code = (byte: number) => `%${byte.toString(16).padStart(2, "0")}`;
  return [...path]
    .map((letter) => (letter !== "/" && below(4) === 0 ? [...Buffer.from(letter)].map(code).join("") : letter))
    .join("");
}

function outside(random: Chance, home: string): string {
  const place = random.one(...OUTSIDE);
  return random.one(
    ...[
      `~/${place}`,
      `$HOME/${place}`,
      `\${HOME}/${place}`,
      `../${place}`,
      `..\\${place}`,
      `src/../../${place}`,
      `file://${escaped(random, join(home, place))}`,
      join(home, place),
      "out/a.txt",
      "out\\new.txt",
    ],
  );
}

function impossible({ one }: Chance): string {
  return one(
    ...[
      "~root/a.txt",
      "~nobody\\a.txt",
      "C:\\a.txt",
      "c:/src/a.txt",
      "\\\\box\\share\\a.txt",
      "file://box/src/a.txt",
      "file:///C:/a.txt",
      "file:///a%2fb.txt",
      "file:///tmp/x?y",
      "file:///%zz",
    ],
  );
}
