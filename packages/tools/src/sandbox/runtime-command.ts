import { shellWords } from "./find-program.ts";
import type { NetworkEntrance } from "./messages.ts";

/** The text before all mounts in a command of the sandbox runtime. */
const OWN_NETWORK = " --new-session --die-with-parent --unshare-net ";

/** The text after all mounts in a command of the sandbox runtime. No file name appears after this text. */
export const AFTER_MOUNTS = " --dev /dev --unshare-pid ";

/** The variables with which the sandbox runtime leads programs to its proxies. */
const PROXY_VARIABLE = / --setenv (\w*proxy\w*|GIT_SSH_COMMAND|GIT_CONFIG_PARAMETERS|JAVA_TOOL_OPTIONS) /gi;

/**
 * Returns a command of the sandbox runtime that uses an existing network instead of its own network and relays.
 * `inShell` replaces the end of the command. Without `enter`, the network is that of this machine, and the command has
 * no variables for proxies. Throws on an unknown format.
 */
export function inNetwork(
  text: string,
  { enter, bwrap, inShell }: Pick<NetworkEntrance, "enter"> & { readonly bwrap: string; readonly inShell: string },
): string {
  const start = `${bwrap}${OWN_NETWORK}`;
  const at = text.indexOf(start);
  if (at < 0) throw unknownFormat();
  const [file, ...args] = enter;
  const given = text.slice(at + start.length, text.length - afterOptions(text).length);
  const entering = file === undefined ? "" : `${shellWords({ file, args })} `;
  const joining = `${entering}${start.replace(" --unshare-net ", " ")}`;
  const unset = [...given.matchAll(PROXY_VARIABLE)].map(([, name]) => ` --unsetenv ${name}`);
  const options = file === undefined ? `${given}${unset.join("")}` : given;
  return `${text.slice(0, at)}${joining}${options}${inShell}`;
}

/** Returns the end of a command of the sandbox runtime, after the options of bubblewrap. Throws on an unknown format. */
export function afterOptions(text: string): string {
  const at = text.indexOf(" -- ", text.lastIndexOf(AFTER_MOUNTS));
  if (at < 0) throw unknownFormat();
  return text.slice(at);
}

/** The error of a command that does not have the format of the known sandbox runtime. */
export function unknownFormat(): Error {
  return new Error("the sandbox runtime answered in an unexpected format");
}
