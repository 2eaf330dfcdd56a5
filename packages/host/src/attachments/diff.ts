import { shownPath } from "@banyan/tools/named-path";
import { type GitOptions, git } from "../programs/git.ts";

/** Maximum bytes of an attached diff. */
const MOST = 256 * 1024;

const MOST_SAID = 64 * 1024 * 1024;

/** Milliseconds. */
const PATIENCE = 20_000;

/** Runs no programs of the repository, and ignores changes inside submodules. */
const FLAGS = ["--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", "--end-of-options"];

/**
 * Returns a git diff as a patch. Without a name: the uncommitted changes, and the names of new files. With a branch:
 * the changes since its fork. With a commit: the changes of this commit. With `a..b` or `a...b`: the changes between
 * two commits. Rejects with an `Error` if there are no changes.
 */
export async function namedDiff(
  name: string | undefined,
  {
    sandbox,
    ...options
  }: Pick<GitOptions, "cwd" | "env" | "signal"> & { readonly sandbox: GitOptions["sandbox"] | undefined },
): Promise<string> {
  if (!sandbox)
    throw new Error("git runs only in a sandbox, and there is none here. `!git diff` shows it to the agent");
  // Show non-ASCII file names unescaped.
  const ask = (...args: string[]) =>
    git(["-c", "core.quotePath=false", ...args], { ...options, sandbox, timeout: PATIENCE, most: MOST_SAID });
  const isThere = (ref: string) =>
    ask("rev-parse", "--verify", "--quiet", "--end-of-options", ref).then(
      () => true,
      () => false,
    );
  if (!(await isThere("HEAD"))) throw new Error("there is no git repository here, or it has no commit");
  const patch = await gitPatch(name, ask, isThere);
  if (patch.trim() === "") throw new Error("nothing has changed");
  const bytes = Buffer.from(patch);
  if (bytes.length <= MOST) return patch;
  const whole = bytes.subarray(0, bytes.lastIndexOf("\n", MOST) + 1);
  return `${whole.toString("utf8")}[${bytes.length - whole.length} more bytes are left out: read the files themselves]\n`;
}

async function gitPatch(
  name: string | undefined,
  ask: (...args: string[]) => Promise<string>,
  isThere: (ref: string) => Promise<boolean>,
): Promise<string> {
  if (name === undefined) {
    const patch = await ask("diff", ...FLAGS, "HEAD", "--");
    const added = (await ask("ls-files", "--others", "--exclude-standard", "-z")).split("\0").filter(Boolean);
    return added.length === 0
      ? patch
      : `${patch}New files that git does not track yet:\n${added.map(shownPath).join("\n")}\n`;
  }
  const [, from, to] = /^(.+?)\.{2,3}(.+)$/.exec(name) ?? [];
  const ends = from === undefined || to === undefined ? [name] : [from, to];
  for (const end of ends) if (!(await isThere(`${end}^{commit}`))) throw new Error(`there is no commit ${end}`);
  if (ends.length > 1) return ask("diff", ...FLAGS, name, "--");
  const isBranch = (await isThere(`refs/heads/${name}`)) || (await isThere(`refs/remotes/${name}`));
  return isBranch ? ask("diff", "--merge-base", ...FLAGS, name, "--") : ask("show", ...FLAGS, name, "--");
}
