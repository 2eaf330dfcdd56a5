import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Program names that other programs might look up in the folder. */
const PROGRAMS = [
  "git",
  "rg",
  "sh",
  "bash",
  "node",
  "npx",
  "npm",
  "bwrap",
  "socat",
  "open",
  "xdg-open",
  "vim",
  "vi",
  "less",
  "ps",
];

const HOOKS = [
  ...["applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-checkout", "post-commit", "post-index-change"],
  ...["post-merge", "pre-auto-gc", "pre-commit", "pre-push", "reference-transaction", "sendemail-validate"],
];

/** A repository that tries in many ways to run a program, and the traces of its programs. */
export interface Planted {
  /** Returns the programs that ran, one per line; empty if none did. */
  ran(): string;
  /** A `PATH` that begins with the folder's own programs, also by relative names. */
  readonly path: string;
}

/**
 * Fills a folder with files that make git, ripgrep, shells, editors and package managers run programs. `way` is how git
 * finds its settings: in `.git`, through a `.git` file that names another folder, or through a `commondir`.
 */
export function plantPrograms(folder: string, way: "config" | "gitdir" | "commondir" | "include" = "config"): Planted {
  const mark = join(dirname(folder), "planted-programs-ran");
  const program = join(folder, "tools", "planted.sh");
  const put = (path: string, content: string, isProgram = false) => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    if (isProgram) chmodSync(file, 0o755);
    return file;
  };
  const script = (name: string) => `#!/bin/sh\necho "${name} $0 $*" >> '${mark}'\nexit 0\n`;
  put("tools/planted.sh", script("planted"), true);
  for (const name of PROGRAMS)
    for (const place of [name, `bin/${name}`, `node_modules/.bin/${name}`]) put(place, script(name), true);

  const settings = `
[core]
	repositoryformatversion = 0
	fsmonitor = ${program} fsmonitor
	hooksPath = ${join(folder, "hooks")}
	pager = ${program} pager
	editor = ${program} editor
	sshCommand = ${program} ssh
	askPass = ${program}
	gitProxy = ${program}
	alternateRefsCommand = ${program} alternates
[credential]
	helper = !${program} credential
[filter "planted"]
	clean = ${program} clean
	smudge = ${program} smudge
	process = ${program} process
	required = true
[diff]
	external = ${program} external
[diff "planted"]
	textconv = ${program} textconv
	command = ${program} command
[merge "planted"]
	driver = ${program} merge
[pager]
	ls-files = ${program} pager
	status = ${program} pager
[submodule "planted"]
	update = !${program} submodule
[uploadpack]
	packObjectsHook = ${program} pack
[gpg]
	program = ${program}
`;
  const git = way === "gitdir" ? "elsewhere" : ".git";
  const common = way === "commondir" ? "common" : git;
  put("planted.config", settings);
  const included = `[core]\n\trepositoryformatversion = 0\n[include]\n\tpath = ${join(folder, "planted.config")}\n[includeIf "gitdir:**"]\n\tpath = ${join(folder, "planted.config")}\n`;
  for (const place of new Set([git, common])) {
    put(`${place}/HEAD`, "ref: refs/heads/main\n");
    put(`${place}/config`, way === "include" ? included : settings);
    put(`${place}/objects/info/alternates`, `${join(folder, "other/objects")}\n`);
    put(`${place}/refs/heads/.keep`, "");
    put(`${place}/info/attributes`, "* filter=planted diff=planted merge=planted\n");
    for (const hook of HOOKS) put(`${place}/hooks/${hook}`, script(hook), true);
  }
  if (way === "gitdir") put(".git", `gitdir: ${join(folder, git)}\n`);
  if (way === "commondir") put(".git/commondir", "../common\n");
  for (const hook of HOOKS) put(`hooks/${hook}`, script(hook), true);
  put(".gitattributes", "* filter=planted diff=planted merge=planted\n");
  put(".gitmodules", `[submodule "planted"]\n\tpath = sub\n\turl = ${folder}\n\tupdate = !${program}\n`);
  put("sub/.git", `gitdir: ${join(folder, git)}\n`);
  put(".ripgreprc", `--pre=${program}\n`);
  put(".npmrc", `script-shell=${program}\nnode-options=--require=${program}\n`);
  put(".envrc", `${program} envrc\n`);
  put("package.json", JSON.stringify({ scripts: { preinstall: program, start: program } }));
  put("notes.md", "needle\n");
  return {
    ran: () => (existsSync(mark) ? readFileSync(mark, "utf8") : ""),
    path: ["", ".", "bin", "node_modules/.bin", join(folder, "bin"), process.env.PATH].join(":"),
  };
}
