import { type ExitCode, exitCodes } from "../exit.ts";
import { lastLines } from "../show/excerpt.ts";
import type { Connected } from "./connected.ts";

/** Lines of what a server wrote, and characters of each, that are shown when it cannot be used. */
const LINES = 10;
const WIDTH = 200;

/** Says why a server cannot be used, with what it wrote last. */
export function unusable({ servers, state }: Connected, warn: (sentence: string) => void): ExitCode {
  const { name } = state;
  for (const line of lastLines(servers.journal(name), LINES, WIDTH)) warn(`${name} wrote: ${line}`);
  warn(`${name} cannot be used: ${"reason" in state ? state.reason : state.status}.`.replace(/\.\.$/, "."));
  return state.status === "needs-auth" ? exitCodes.authentication : exitCodes.failed;
}
