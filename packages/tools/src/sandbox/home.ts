import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { expandHome } from "../workspace/files/named-path.ts";
import type { ProcessEnvironment } from "./environment.ts";
import { isPathWithin } from "./protected-places.ts";

/** The files of the home folder that builds read: toolchains, their downloads, and settings without passwords. */
const FOR_BUILDS = [
  ...[".asdf", ".bun", ".bundle", ".cargo", ".composer", ".conda", ".deno", ".dotnet", ".elan", ".fnm", ".fvm", ".gem"],
  ...[".ghcup", ".goenv", ".gradle", ".gvm", ".hex", ".ivy2", ".jbang", ".jenv", ".julia", ".juliaup", ".konan", ".m2"],
  ...[".mix", ".n", ".nimble", ".nodenv", ".npm", ".npm-global", ".nuget", ".nvm", ".opam", ".phpenv", ".pixi"],
  ...[".pnpm-store", ".poetry", ".pub-cache", ".pyenv", ".rbenv", ".rustup", ".rvm", ".sbt", ".sdkman", ".stack"],
  ...[".swiftly", ".volta", ".yarn", ".zvm", "anaconda3", "go", "mambaforge", "miniconda3", "miniforge3", "n", "sdk"],
  ...[".cache/Cypress", ".cache/coursier", ".cache/deno", ".cache/ms-playwright", ".cache/node"],
  ...[".cache/pnpm", ".cache/puppeteer", ".cache/pypoetry", ".cache/yarn", ".config/git", ".gitconfig"],
  ...[".local/bin", ".local/lib", ".local/pipx", ".local/share/cargo", ".local/share/fnm", ".local/share/gem"],
  ...[".local/share/mise", ".local/share/pipx", ".local/share/pnpm", ".local/share/pypoetry", ".local/share/rustup"],
  ...[".local/share/uv", ".local/share/virtualenvs", "Library/Caches/Homebrew", "Library/pnpm"],
];

/** Caches that builds must write to. The sandbox has its own empty copies, so no program outside runs their content. */
const PRIVATE_CACHES = ["go-build", "pip", "uv"];

/** Keys, passwords and sign-ins of common programs in the home folder. No setting makes them readable. */
const SECRETS = [
  ...[".aws", ".azure", ".boto", ".bundle/config", ".cargo/credentials", ".cargo/credentials.toml", ".claude.json"],
  ...[".composer/auth.json", ".conda/.condarc", ".config/banyan", ".config/chromium", ".config/composer/auth.json"],
  ...[".config/doctl", ".config/gcloud", ".config/gh", ".config/git/credentials", ".config/glab-cli"],
  ...[
    ".config/google-chrome",
    ".config/helm",
    ".config/hub",
    ".config/op",
    ".config/pip",
    ".config/pypoetry/auth.toml",
  ],
  ...[".config/rclone", ".config/sops", ".config/uv/credentials", ".docker", ".fly", ".gem/credentials"],
  ...[".git-credentials", ".gnupg", ".gradle/gradle.properties", ".gradle/init.gradle", ".gradle/init.d"],
  ...[".hex/hex.config", ".ivy2/.credentials", ".kube", ".local/share/banyan", ".local/share/keyrings"],
  ...[".local/share/uv/credentials", ".local/state/banyan", ".m2/settings-security.xml", ".m2/settings.xml"],
  ...[".m2/settings-security4.xml", ".mozilla", ".my.cnf", ".netrc", ".npmrc", ".nuget/NuGet"],
  ...[".oci", ".password-store", ".pgpass", ".pip", ".pub-cache/credentials.json", ".pypirc", ".s3cfg"],
  ...[".sbt/.credentials", ".ssh", ".subversion", ".terraform.d", ".terraformrc", ".thunderbird", ".vault-token"],
  ...[".dotnet/corefx", ".gem/gem-private_key.pem", ".julia/servers", ".local/share/cargo/credentials"],
  ...[".local/share/cargo/credentials.toml", ".local/share/gem/credentials", ".nimble/github_api_token"],
  ...[".npm-global/etc/npmrc", ".sbt/1.0/credentials.sbt", ".sbt/credentials", ".sbt/gpg", ".stack/upload"],
  ...["anaconda3/.condarc", "mambaforge/.condarc", "miniconda3/.condarc", "miniforge3/.condarc"],
  ...[".yarnrc", ".yarnrc.yml", ".config/configstore", "Library/Application Support", "Library/Keychains"],
];

/** Secrets outside the home folder. A command in the sandbox of a root user still runs as root. */
const OF_SYSTEM = [
  ...["/home", "/root", "/run/credentials", "/run/secrets", "/run/user", "/var/run/secrets", "/etc/gshadow"],
  ...["/etc/gshadow-", "/etc/kubernetes", "/etc/NetworkManager/system-connections", "/etc/shadow", "/etc/shadow-"],
  ...["/etc/ssl/private", "/etc/sudoers", "/etc/sudoers.d", "/etc/wireguard", "/etc/ssh/ssh_host_ecdsa_key"],
  ...["/etc/ssh/ssh_host_ed25519_key", "/etc/ssh/ssh_host_rsa_key", "/var/backups", "/var/lib/containerd"],
  ...["/var/lib/docker", "/var/lib/kubelet", "/var/lib/mysql", "/var/lib/postgresql", "/var/lib/redis"],
  ...["/var/lib/sss", "/var/mail", "/var/spool/cron"],
];

/** The parts of the home folder that commands can read (S19). All paths are absolute. */
export interface ClosedHome {
  /** Unreadable paths, even inside readable folders. */
  readonly denied: readonly string[];
  /** Readable paths inside the denied folders. */
  readonly readable: readonly string[];
  /** Folders for which the sandbox has replacements of its own. */
  readonly caches: readonly string[];
  /** Paths of the settings that stay unreadable, as sentences for the user. */
  readonly refused: readonly string[];
}

/**
 * Makes a home folder unreadable, except for files that builds need, the folders of `PATH`, and the `named` paths
 * (relative to the home folder). The folders in `own` always stay unreadable.
 */
export function closeHome({
  home,
  env,
  named,
  own,
}: {
  readonly home: string;
  readonly env: ProcessEnvironment;
  readonly named: readonly string[];
  readonly own: readonly string[];
}): ClosedHome {
  const secrets = SECRETS.map((secret) => join(home, secret));
  const whyClosed = (place: string) => {
    if (place === home || !isPathWithin(home, place)) return "the path is not inside your home folder";
    if (own.some((folder) => isPathWithin(folder, place))) return "Banyan keeps its own files there";
    if (secrets.some((secret) => isPathWithin(secret, place))) return "programs keep passwords there";
    return undefined;
  };
  const readable = FOR_BUILDS.map((place) => join(home, place));
  const refused: string[] = [];
  for (const name of named) {
    const place = resolve(home, expandHome(name, home));
    const why = whyClosed(place) ?? whyClosed(real(place));
    if (why === undefined) readable.push(place);
    else refused.push(`Commands in the sandbox cannot read ${name} (sandbox.home): ${why}.`);
  }
  for (const folder of (env.PATH ?? "").split(delimiter))
    if (isAbsolute(folder) && whyClosed(resolve(folder)) === undefined) readable.push(resolve(folder));
  readable.push("/home/linuxbrew/.linuxbrew");
  return {
    denied: [home, ...OF_SYSTEM, ...secrets, ...own],
    readable: readable.filter(
      (place, index) => !readable.some((other, at) => isPathWithin(other, place) && (other !== place || at < index)),
    ),
    caches: PRIVATE_CACHES.map((place) => join(cachesOf(home, env), place)),
    refused,
  };
}

/** Returns the cache folder by the XDG base directory specification. Outside the home folder no mount is possible. */
function cachesOf(home: string, { XDG_CACHE_HOME: named }: ProcessEnvironment): string {
  return named !== undefined && isAbsolute(named) && isPathWithin(home, named) ? resolve(named) : join(home, ".cache");
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // A missing file has no other name.
    return path;
  }
}

/**
 * Variables that lead npm, cargo and Go to download caches in the sandbox's temporary folder. The caches of the home
 * folder are read-only for commands, because programs outside the sandbox could run their content. Create this object
 * before any command runs.
 */
export class DownloadCaches {
  readonly #folder: string;

  constructor(temporary: string) {
    this.#folder = join(temporary, "downloads");
    mkdirSync(join(this.#folder, "cargo"), { recursive: true, mode: 0o700 });
    const settings = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "config.toml");
    symlinkSync(settings, join(this.#folder, "cargo", "config.toml"));
  }

  variables({ GOFLAGS }: Readonly<Record<string, string | undefined>>): Record<string, string> {
    return {
      npm_config_cache: join(this.#folder, "npm"),
      CARGO_HOME: join(this.#folder, "cargo"),
      GOMODCACHE: join(this.#folder, "go"),
      // Without this option, Go makes read-only folders, which the sandbox could not remove.
      GOFLAGS: [...(GOFLAGS ? [GOFLAGS] : []), "-modcacherw"].join(" "),
    };
  }
}
