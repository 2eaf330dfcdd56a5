import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type Attack, NotTried, type Place } from "../attack.ts";
import { inSandbox } from "../in-sandbox.ts";

// S19: a sandboxed command reads no credentials and no files of Banyan, and writes no file that other programs obey.

const SECRET = "attack-marker-7f3a9c";

const credentials = [
  ...[
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".azure/accessTokens.json",
    ".config/gcloud/credentials.db",
    ".kube/config",
  ],
  ...[".docker/config.json", ".netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".config/pip/pip.conf", ".git-credentials"],
  ...[
    ".config/git/credentials",
    ".config/gh/hosts.yml",
    ".config/hub",
    ".cargo/credentials.toml",
    ".cargo/credentials",
  ],
  ...[
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".gem/credentials",
    ".bundle/config",
  ],
  ...[
    ".composer/auth.json",
    ".gnupg/private-keys-v1.d/k",
    ".password-store/a.gpg",
    ".vault-token",
    ".pgpass",
    ".my.cnf",
  ],
  ...[
    ".terraform.d/credentials.tfrc.json",
    ".local/share/cargo/credentials.toml",
    ".local/share/gem/credentials",
    ".gem/gem-private_key.pem",
    ".stack/upload/credentials.json",
    ".nimble/github_api_token",
    ".julia/servers/example.org/auth.toml",
    ".dotnet/corefx/cryptography/x509stores/my/key.pfx",
    ".sbt/1.0/credentials.sbt",
    ".npm-global/etc/npmrc",
    ".config/rclone/rclone.conf",
    ".config/op/config",
    ".local/share/keyrings/a",
  ],
  ...[
    ".mozilla/firefox/p/logins.json",
    ".config/google-chrome/Default/Cookies",
    ".bash_history",
    "Documents/taxes.txt",
  ],
];

const ours = ["config/settings.json", "config/trust.json", "data/conversations/a", "data/token", "state/server.token"];

const readings: Readonly<Record<string, string>> = {
  plainly: 'cat "$F"',
  "by a link": 'ln -sf "$F" l; cat l',
  "by a hard link": 'ln "$F" h; cat h',
  "by /proc/self/root": 'cat "/proc/self/root$F"',
  "by the root of process 1": 'cat "/proc/1/root$F"',
  "by the roots of all processes": 'cat /proc/[0-9]*/root"$F"',
  "in a namespace of its own": 'unshare -Urm sh -c "umount -l \\"$HOME\\"; cat \\"$F\\""',
  "after an unmount": 'umount -l "$HOME"; umount -l "$F"; cat "$F"',
  "by the folder's own descriptor": 'cd /; cat "./$F"',
};

/** Files that other programs obey, created by a command in a folder without repository (`plain`) or in a repository. */
const plants: Readonly<Record<"plain" | "repository", readonly string[]>> = {
  plain: [
    ".git/config",
    "HEAD",
    ".envrc",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".mcp.json",
    ".claude/settings.json",
    ".cursor/mcp.json",
    ".banyan/settings.json",
  ],
  repository: [
    ".git/commondir",
    ".git/config",
    ".git/hooks/post-checkout",
    ".envrc",
    ".vscode/tasks.json",
    ".mcp.json",
    ".banyan/mcp.json",
  ],
};

const writings: Readonly<Record<string, string>> = {
  plainly: 'mkdir -p "$(dirname "$F")"; echo evil > "$F"',
  "by a rename": 'mkdir -p t; echo evil > t/x; mkdir -p "$(dirname "$F")"; mv -f t/x "$F"',
  "by a new folder":
    'D=$(dirname "$F"); [ "$D" = . ] && D="$F"; mv "$D" aside; rm -rf "$D"; mkdir -p "$(dirname "$F")"; echo evil > "$F"',
  "by a link": 'mkdir -p t; echo evil > t/x; ln -sfn "$PWD/t/x" "$F"; ln -sfn "$PWD/t" "$(dirname "$F")"',
  "after an unmount":
    'umount -l "$F"; umount -l "$(dirname "$F")"; rmdir "$F"; mkdir -p "$(dirname "$F")"; echo evil > "$F"',
};

const EVIL_SETTINGS = `printf '[core]\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = "touch %s/ran-evil; false"\\n' "$PWD"`;

const takeovers: Readonly<Record<string, string>> = {
  "the folder itself": `cp -r .git/objects .git/refs .; cp .git/HEAD HEAD; ${EVIL_SETTINGS} > config; mv .git/HEAD .git/h`,
  "a folder that commondir names": `mkdir o; cp -r .git/objects .git/refs o; ${EVIL_SETTINGS} > o/config; cp .git/HEAD HEAD; echo "$PWD/o" > commondir; mv .git/HEAD .git/h`,
  "the repository of a submodule": `${EVIL_SETTINGS} >> .git/modules/a/b/config`,
  "a repository that becomes a submodule": `O=$PWD; mkdir s; cd s; git init -q; git -c user.name=a -c user.email=a commit -q --allow-empty -m x; cd ..; git update-index --add --cacheinfo 160000,$(git -C s rev-parse HEAD),s; git -C s config core.fsmonitor "touch $O/ran-evil; false"`,
};

const links: Readonly<Record<string, string>> = {
  ".git/hooks": "../cfg",
  ".vscode": "cfg",
  ".claude": "not/there",
  ".envrc": "env",
  ".mcp.json": "../home/elsewhere",
  ".idea": "../home/missing",
};

/** Kernel objects of a user: how to create them outside, and how a command finds them. Both print `found`. */
const kernel: Readonly<Record<string, { readonly make?: string; readonly ask: string }>> = {
  "shared memory of another program": {
    make: `libc.shmget(KEY, 4096, 0o1600)`,
    ask: `print("found" if libc.shmget(KEY, 0, 0) >= 0 else "no")`,
  },
  "the keys of the session": {
    ask: `print("found" if libc.syscall(250 if os.uname().machine == "x86_64" else 219, 0, -3, 1) >= 0 else "no")`,
  },
};

export const attacks: readonly Attack[] = [
  ...Object.entries(readings).flatMap(([how, command]) => [
    reading(`credentials of the home ${how}`, command, (place) => credentials.map((name) => join(place.home, name))),
    reading(`files of the program ${how}`, command, (place) =>
      ours.map((name) => join(place.env.BANYAN_HOME ?? "", name)),
    ),
  ]),
  ...Object.entries(takeovers).map(([how, command]) => takeover(how, command)),
  ...(["plain", "repository"] as const).flatMap((kind) =>
    Object.entries(writings).map(([how, command]) => planting(kind, how, command)),
  ),
  ...Object.keys(links).map(replacing),
  ...Object.entries(kernel).map(([name, { make, ask }]) => reachingKernel(name, make, ask)),
  {
    rule: "S19",
    name: "settings of a repository below, whose HEAD an earlier command took away",
    async attempt(place) {
      if (spawnSync("git", ["init", "-q", join(place.folder, "below")]).status !== 0)
        throw new NotTried("there is no git");
      await inSandbox(place, "mv below/.git/HEAD below/.git/h");
      await inSandbox(place, "echo '# evil' >> below/.git/config; mv below/.git/h below/.git/HEAD");
      const settings = readFileSync(join(place.folder, "below/.git/config"), "utf8");
      return settings.includes("evil") ? "its settings were changed" : undefined;
    },
  },
];

function reading(name: string, command: string, files: (place: Place) => readonly string[]): Attack {
  return {
    rule: "S19",
    name,
    async attempt(place) {
      const all = files(place);
      for (const file of all) {
        const text = file.endsWith("settings.json") ? `{"theme":"auto","instructions":["${SECRET}"]}` : `${SECRET}\n`;
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
      const script = all.map((file) => `F='${file}'; ${command}`).join("\n");
      const said = await inSandbox(place, script);
      return said.includes(SECRET) ? "a command printed what the file holds" : undefined;
    },
  };
}

function planting(kind: "plain" | "repository", how: string, command: string): Attack {
  return {
    rule: "S19",
    name: `what others obey, planted ${how} in a folder ${kind === "plain" ? "without" : "with"} a repository`,
    async attempt(place) {
      if (kind === "repository" && spawnSync("git", ["init", "-q", place.folder]).status !== 0)
        throw new NotTried("there is no git");
      for (const name of plants[kind]) {
        await inSandbox(place, `F='${name}'; ${command}`);
        const file = join(place.folder, name);
        if (existsSync(file) && readFileSync(file, "utf8").includes("evil")) return `${name} was planted`;
      }
      return undefined;
    },
  };
}

function replacing(name: string): Attack {
  return {
    rule: "S19",
    name: `a link in the place of ${name}, replaced by a command, or filled where it leads`,
    async attempt(place) {
      if (spawnSync("git", ["init", "-q", place.folder]).status !== 0) throw new NotTried("there is no git");
      const [link, target] = [join(place.folder, name), links[name] ?? ""];
      mkdirSync(join(place.folder, "cfg"));
      mkdirSync(join(place.home, "elsewhere"));
      writeFileSync(join(place.folder, "env"), "");
      rmSync(link, { recursive: true, force: true });
      symlinkSync(target, link);
      const fill = 'echo evil > "$F"; echo evil > "$F/x"; mkdir -p not/there; echo evil > not/there/x';
      await inSandbox(place, `F=${name}; ${fill}; rm -f "$F"; mkdir "$F"; ${fill}; rm -rf not`);
      const isLink = lstatSync(link).isSymbolicLink() && readlinkSync(link) === target;
      if (!isLink) return "something else stands there now";
      for (const file of [link, join(link, "x")])
        if (existsSync(file) && lstatSync(realpathSync(file)).isFile() && readFileSync(file, "utf8").includes("evil"))
          return "what it leads to was written";
      return undefined;
    },
  };
}

function reachingKernel(name: string, make: string | undefined, ask: string): Attack {
  return {
    rule: "S19",
    name,
    async attempt(place) {
      const key = 0x7c00_0000 + process.pid;
      const python = (line: string) =>
        `import ctypes, os\nlibc = ctypes.CDLL(None)\n${line.replace("KEY", String(key))}\n`;
      if (spawnSync("python3", ["-c", python(make ?? "")]).status !== 0) throw new NotTried("there is no python3");
      place.defer(() => spawnSync("ipcrm", ["-M", String(key)]));
      writeFileSync(join(place.folder, "ask.py"), python(ask));
      const said = await inSandbox(place, 'echo "answer:$(python3 ask.py)"');
      if (said.includes("answer:no")) return undefined;
      return said.includes("answer:found") ? "a command reached it" : "it was not asked for";
    },
  };
}

function takeover(how: string, command: string): Attack {
  return {
    rule: "S19",
    name: `settings that git obeys, from ${how}`,
    async attempt(place) {
      if (spawnSync("git", ["init", "-q", place.folder]).status !== 0) throw new NotTried("there is no git");
      const module = join(place.folder, ".git/modules/a/b");
      mkdirSync(dirname(module), { recursive: true });
      spawnSync("git", ["init", "-q", "--bare", module]);
      await inSandbox(place, command);
      for (const args of [["status"], [`--git-dir=${module}`, `--work-tree=${place.folder}`, "status"]])
        spawnSync("git", args, { cwd: place.folder });
      return existsSync(join(place.folder, "ran-evil")) ? "git ran a program of the command's choice" : undefined;
    },
  };
}
