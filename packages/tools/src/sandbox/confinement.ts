import type { Sandbox } from "./sandbox.ts";

/** Returns what holds a command of a conversation, in one line for its question (S41). */
export function confinementLine(
  sandbox: Pick<Sandbox, "network" | "writable"> | undefined,
  conversation: string,
): string {
  if (!sandbox) return "Outside the sandbox";
  const addresses = sandbox.network.list(conversation).map(({ address }) => address);
  const network = addresses.length === 0 ? "no network" : `network only to ${LIST.format(addresses)}`;
  return `In the sandbox: ${network}, writes only in ${LIST.format(["this folder", ...sandbox.writable])}`;
}

const LIST = new Intl.ListFormat("en-GB");
