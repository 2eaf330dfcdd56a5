import { shellWords } from "./find-program.ts";
import type { NetworkEntrance } from "./messages.ts";

/** The text before all mounts in a command of the sandbox runtime. */
const OWN_NETWORK = " --new-session --die-with-parent --unshare-net ";

/** The text after all mounts in a command of the sandbox runtime. No file name appears after this text. */
export const AFTER_MOUNTS = " --dev /dev --unshare-pid ";

/**
 * Returns a command of the sandbox runtime that uses an existing network, in place of a network and relays of its own.
 * `inShell` replaces the end of the command. Throws on an unknown format.
 */
export function inNetwork(
  text: string,
  { enter, bwrap, inShell }: Pick<NetworkEntrance, "enter"> & { readonly bwrap: string; readonly inShell: string },
): string {
  const start = `${bwrap}${OWN_NETWORK}`;
  const at = text.indexOf(start);
  if (at < 0) throw unknownFormat();
  const [file = "", ...args] = enter;
  const options = text.slice(at + start.length, text.length - afterOptions(text).length);
  const joining = `${shellWords({ file, args })} ${start.replace(" --unshare-net ", " ")}`;
  return `${text.slice(0, at)}${joining}${options}${inShell}`;
}

/** Returns the end of a command of the sandbox runtime, after the options of bubblewrap. Throws on an unknown format. */
export function afterOptions(text: string): string {
  const at = text.indexOf(" -- ", text.lastIndexOf(AFTER_MOUNTS));
  if (at < 0) throw unknownFormat();
  return text.slice(at);
}

/** The error of a command whose format is not the one of the known sandbox runtime. */
export function unknownFormat(): Error {
  return new Error("the sandbox runtime answered in an unexpected format");
}
