import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { emptyConversation } from "../../../packages/core/src/index.ts";
import { openSandbox } from "../../../packages/tools/src/sandbox/index.ts";
import { openWorkspace, WorkspaceSnapshots, workspaceTools } from "../../../packages/tools/src/workspace/index.ts";
import { treeOf } from "../../../packages/tools/src/workspace/snapshots/tree.fixture.ts";
import { call } from "../../../packages/tools/src/workspace/test-folder.fixture.ts";
import { type Attack, NotTried } from "../attack.ts";

// S37: after a command with limits, a rewind restores every byte of the workspace, its repositories included.

/** What commands try, by what they try to leave behind. */
const commands: Readonly<Record<string, string>> = {
  "a commit": "git commit -qam evil",
  "an amended commit": "git commit -q --amend -m evil",
  "a moved branch": "git reset -q --hard HEAD~1; git update-ref refs/heads/main HEAD~1; echo > .git/refs/heads/main",
  "a deleted branch": "git branch -D other; rm -rf .git/refs/heads",
  "a tag": "git tag evil; git tag -d v1",
  "a stash": "echo evil > a.txt; git stash",
  "packed objects": "git gc --prune=now -q; git repack -adq; git prune --expire=now",
  "removed objects": "rm -rf .git/objects/*",
  "a changed index": "git add -A; git rm -q --cached a.txt; rm -f .git/index; git read-tree HEAD~1",
  "a hook": "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
  "a setting of git": "git config alias.st '!evil'; git config core.hooksPath .; git config core.fsmonitor ./evil",
  "an exclude of git": "echo '*' > .git/info/exclude; echo '* filter=evil' > .git/info/attributes",
  "a worktree": "git worktree add -q ../other other; git worktree add -q inside other",
  "a renamed repository": "mv .git moved; mv .git .git-old; mkdir .git",
  "an exchanged repository":
    "python3 -c \"import ctypes; print(ctypes.CDLL(None).renameat2(-100, b'.git', -100, b'folder', 2))\"; mkdir exchanged; mv -T .git exchanged",
  "a renamed folder around a repository": "mv sub moved; mkdir -p sub; mv sub/.git evil; rm -rf sub",
  "a repository in place of another": "rm -rf sub/.git; git init -q sub; git -C sub config core.fsmonitor evil",
  "a new repository":
    "git init -q new; git -C new config core.fsmonitor evil; echo evil > new/.git/hooks/post-checkout",
  "repositories in repositories":
    "for d in a a/.git/b a/.git/b/.git/c; do mkdir -p n/$d/.git; echo evil > n/$d/.git/config; done",
  "a repository in a closed folder": "git init -q shut/in; echo evil > shut/in/f; chmod 000 shut/in; chmod 300 shut",
  "a repository in a read-only folder": "git init -q fixed; chmod 555 fixed fixed/.git",
  "a bare repository": "git init -q --bare bare; git init -q --bare .; echo evil > HEAD; mkdir objects refs",
  "a pointer to another repository":
    "mkdir p; echo \"gitdir: $PWD/sub/.git\" > p/.git; echo 'gitdir: /tmp' > folder/.git",
  "a link as a repository": "mkdir l; ln -s ../.git l/.git; ln -s /etc linked; ln -sf /etc/passwd a.txt",
  "a submodule": "git -c protocol.file.allow=always submodule add -q ./sub evil; echo '[submodule]' > .gitmodules",
  "a closed folder with a change": "echo evil > folder/kept; chmod 000 folder",
  "a closed file with a change": "echo evil > a.txt; chmod 000 a.txt; chmod 4755 package.json",
  "a pipe in place of a file":
    "rm a.txt; mkfifo a.txt; mkfifo folder/pipe new-pipe; rm -r folder/deep; mkfifo folder/deep",
  "a socket":
    "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('socket')\"; python3 -c \"import os,socket; os.remove('a.txt'); socket.socket(socket.AF_UNIX).bind('a.txt')\"",
  "a device": "mknod device c 1 3; mknod disk b 7 0",
  "names that are no text": "touch $'bad\\xff' $'folder/bad\\xfe'; mkdir $'folder\\xff'; echo evil > $'folder\\xff/f'",
  "names with line breaks": "touch $'a\\nb' 'folder/ c' $'\\t' -- -rf '$(evil)'; mkdir '...' $'\\x01'",
  "a hard link":
    "ln a.txt hard; echo evil > hard; ln twice thrice; echo evil > twice; ln .git/HEAD head; echo evil > head",
  "a file with a name outside": "echo evil > twice; truncate -s 0 twice; chmod 777 twice; rm -f twice",
  "a file that is too large": "echo evil >> large.bin; rm -f large.bin; mv large.bin moved; echo evil > large.bin",
  "a new large file": "head -c 3000000 /dev/zero > new.bin; head -c 3000000 /dev/zero > a.txt; truncate -s 1T sparse",
  "a file for shells": "echo evil > .envrc; echo evil > .bashrc; echo evil > folder/.envrc; echo evil > .profile",
  "settings of editors":
    "mkdir -p .vscode x/.vscode .idea; echo evil > .vscode/tasks.json; echo evil > x/.vscode/settings.json; echo '[*]' > .editorconfig",
  "scripts of packages":
    'echo \'{"scripts":{"test":"evil"}}\' > package.json; echo \'ignore-scripts=false\' > .npmrc; echo evil > Makefile',
  "other rules about ignored files": "echo '!*.log' > .gitignore; echo '*' > folder/.gitignore; echo evil >> out.log",
  "a removed workspace": "rm -rf ./* .[a-z]*; cd ..; rm -rf root; mv root other",
  "files outside":
    "echo evil > ../outside/evil; echo evil > ~/evil; echo evil > /etc/evil; echo evil > /var/tmp/evil-s37",
  "a mount":
    "mount -t tmpfs none folder; umount .git; mount -o remount,rw .git; unshare -rm sh -c 'umount .git; echo evil > .git/HEAD'",
  attributes: "chattr +i a.txt; setfacl -m u:nobody:rwx a.txt; setfattr -n user.evil -v 1 folder/kept; rm a.txt",
  "other owners": "chown 1000:1000 a.txt; chgrp 1 folder; chmod 2777 folder; chmod +t .",
  "a process that stays":
    "(sleep 1; echo evil > .git/late; mkdir -p late/.git) & setsid sh -c 'sleep 1; mkdir -p later/.git' & kill -9 $PPID",
  "other times":
    "echo evil! > folder/kept; touch -r package.json folder/kept; touch -d 1990-01-01Z folder; mkdir e; touch -d 1990-01-01Z e",
  "an empty repository with the times of a placeholder": "mkdir -p e/.git; touch -d 1990-01-01T00:00:00Z e/.git",
};

const FILES = {
  "a.txt": "old\n",
  "folder/kept": "kept\n",
  "folder/deep/a": "deep\n",
  "package.json": "{}\n",
  ".gitignore": "*.log\n",
  "out.log": "log\n",
  "large.bin": "x".repeat(2_000),
  "sub/a": "sub\n",
};

export const attacks: readonly Attack[] = Object.entries(commands).map(([left, command]): Attack => {
  return {
    rule: "S37",
    name: `a command leaves ${left} behind after a rewind`,
    async attempt(place) {
      const root = join(place.folder, "root");
      const outside = join(place.folder, "outside");
      for (const folder of [root, outside]) mkdirSync(folder);
      for (const [path, text] of Object.entries(FILES)) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text);
      }
      writeFileSync(join(outside, "linked"), "linked\n");
      linkSync(join(outside, "linked"), join(root, "twice"));
      const git = (folder: string, ...args: readonly string[]) =>
        execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: folder, stdio: "ignore" });
      for (const folder of [join(root, "sub"), root]) {
        git(folder, "init", "-qb", "main");
        for (const name of ["first", "second"]) {
          writeFileSync(join(folder, "a.txt"), `${name}\n`);
          git(folder, "add", "a.txt");
          git(folder, "commit", "-qm", name);
        }
        git(folder, "branch", "other");
        git(folder, "tag", "v1");
      }
      const opening = await openSandbox({
        root,
        writable: [outside],
        env: { ...process.env, ...place.env },
        home: place.home,
      });
      if (!opening.available) throw new NotTried(opening.reason);
      place.defer(() => opening.sandbox[Symbol.asyncDispose]());
      const snapshots = join(place.home, "snapshots");
      const limits = { isLimited: () => true, refusal: () => undefined, lost: () => {} };
      const tools = workspaceTools({ root, sandbox: opening.sandbox, snapshots, limits });
      const shell = tools.find(({ name }) => name === "shell");
      if (!shell) throw new Error("There is no shell.");
      const before = treeOf(place.folder, []);
      const conversation = emptyConversation();
      const message = { id: "m1", role: "assistant", parent: null, calls: [] } as never;
      const said = await call(shell, { command: `echo ran; ${command}` }, { conversation, path: [message] });
      if (!said.startsWith("ran")) throw new Error(`The command did not run: ${said}`);
      const own = new WorkspaceSnapshots(openWorkspace(root), { folder: snapshots });
      const [first] = await own.moments(conversation.id);
      const scope = { conversation: conversation.id, isOwn: () => true };
      const plan = await own.compare(first?.id ?? 0, scope);
      const { problems } = await own.restore(plan, scope);
      const after = treeOf(place.folder, []);
      const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])];
      const broken = paths.filter((path) => before[path] !== after[path]);
      if (readFileSync(join(outside, "linked"), "utf8") !== "linked\n") return "a file outside was changed";
      return broken.length > 0 ? `${broken.slice(0, 3).join(", ")} differ after the rewind (${problems})` : undefined;
    },
  };
});
