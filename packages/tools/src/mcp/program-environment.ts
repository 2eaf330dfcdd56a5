import { DEFAULT_INHERITED_ENV_VARS } from "@modelcontextprotocol/client/stdio";
import { pathWithout } from "../sandbox/find-program.ts";
import type { Environment } from "./variables.ts";

/** Where programs find their language, time zone and temporary files; the client package lists the rest. */
const HARMLESS = [...DEFAULT_INHERITED_ENV_VARS, "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ"];

/**
 * What a server that is a program sees of the user's environment: a few harmless variables, and what its entry lists
 * (S10). Relative entries of `PATH` are not, since they would name folders of the workspace that the server starts in (S16).
 */
export function programEnvironment(user: Environment, listed: Environment): Record<string, string> {
  const environment: Record<string, string> = {};
  const own: Environment = { ...user, PATH: user.PATH && pathWithout([], user.PATH) };
  const entries = [...HARMLESS.map((name) => [name, own[name]] as const), ...Object.entries(listed)];
  // A value that begins with "()" is a function of a shell, and no text.
  for (const [name, value] of entries) if (value !== undefined && !value.startsWith("()")) environment[name] = value;
  return environment;
}
