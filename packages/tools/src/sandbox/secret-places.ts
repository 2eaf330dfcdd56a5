import { join } from "node:path";

/** Keys, passwords and sign-ins of the usual programs, in the home folder. */
const IN_HOME = [
  ".aws",
  ".azure",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".config/banyan",
  ".config/chromium",
  ".config/gcloud",
  ".config/gh",
  ".config/git/credentials",
  ".config/google-chrome",
  ".config/hub",
  ".docker/config.json",
  ".gem/credentials",
  ".git-credentials",
  ".gnupg",
  ".kube",
  ".local/share/banyan",
  ".local/share/keyrings",
  ".mozilla",
  ".netrc",
  ".npmrc",
  ".password-store",
  ".pgpass",
  ".pypirc",
  ".ssh",
  ".terraform.d/credentials.tfrc.json",
  ".thunderbird",
  ".vault-token",
  "Library/Application Support/Google/Chrome",
  "Library/Keychains",
];

/** Readable for root only, which a command in the sandbox of a root user still is. */
const OF_SYSTEM = ["/etc/gshadow", "/etc/shadow", "/etc/sudoers", "/etc/sudoers.d"];

/** The places that commands in a sandbox cannot read unless told otherwise: where programs keep their secrets. */
export function secretPlaces(home: string): readonly string[] {
  return [...IN_HOME.map((path) => join(home, path)), ...OF_SYSTEM];
}
