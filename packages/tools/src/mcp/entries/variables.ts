import type { ProcessEnvironment } from "../../sandbox/environment.ts";
import { type HttpEntry, isStdio, type McpServerEntry, type StdioEntry } from "./entry.ts";
import { McpError } from "./error.ts";

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** Returns the names of the user's variables that an entry contains, without duplicates. */
export function entryVariables(entry: McpServerEntry): readonly string[] {
  const names = new Set<string>();
  mapEntryTexts(entry, (text) => {
    for (const [, name] of text.matchAll(VARIABLE)) if (name !== undefined) names.add(name);
    return text;
  });
  return [...names];
}

/** Returns the entry with its variables filled in. Throws an `McpError` if a variable is unset and has no default. */
export function fillVariables<Entry extends McpServerEntry>(
  server: string,
  entry: Entry,
  env: ProcessEnvironment,
): Entry {
  return mapEntryTexts(entry, (text) =>
    text.replace(VARIABLE, (_, name: string, otherwise: string | undefined) => {
      const value = otherwise === undefined ? env[name] : env[name] || otherwise;
      if (value !== undefined) return value;
      throw new McpError(
        "variable",
        `The MCP server "${server}" needs the environment variable ${name}. Set the variable and restart the program.`,
      );
    }),
  );
}

function mapEntryTexts<Entry extends McpServerEntry>(entry: Entry, change: (text: string) => string): Entry {
  const all = (record: Readonly<Record<string, string>> | undefined) =>
    record && Object.fromEntries(Object.entries(record).map(([key, text]) => [key, change(text)]));
  if (isStdio(entry)) {
    const { command, args, env, cwd } = entry as StdioEntry;
    return {
      ...entry,
      command: change(command),
      ...(args && { args: args.map(change) }),
      ...(env && { env: all(env) }),
      ...(cwd !== undefined && { cwd: change(cwd) }),
    };
  }
  const { url, headers, oauth } = entry as HttpEntry;
  const { clientId, clientSecret } = oauth ?? {};
  return {
    ...entry,
    url: change(url),
    ...(headers && { headers: all(headers) }),
    ...(oauth && {
      oauth: {
        ...oauth,
        ...(clientId !== undefined && { clientId: change(clientId) }),
        ...(clientSecret !== undefined && { clientSecret: change(clientSecret) }),
      },
    }),
  };
}
