import { z } from "zod";
import { McpError } from "./error.ts";

export { McpError, type McpErrorCode } from "./error.ts";

interface CommonEntry {
  /**
   * Milliseconds without a sign of life: until the server is ready (default 30,000), and between two progress reports
   * of a call (default 600,000).
   */
  readonly timeout?: number;
  /** True if the server is not started. Its entry stays in the configuration. */
  readonly disabled?: boolean;
}

/** An MCP server that is a program, connected over standard input and output. See {@link readEntry}. */
export interface StdioEntry extends CommonEntry {
  readonly command: string;
  readonly args?: readonly string[];
  /** Variables for the program. Of the user's own variables it gets only a few harmless ones (`HOME`, `PATH`, ...). */
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory, relative to the workspace. Default: the workspace, except for package runners (`npx`, ...). */
  readonly cwd?: string;
}

/** An MCP server at an address, connected over streamable HTTP. See {@link readEntry}. */
export interface HttpEntry extends CommonEntry {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The sign-in. Not needed if the server lets clients register themselves. */
  readonly oauth?: OAuthEntry;
}

/** The registration of this client at an authorization server. See {@link readEntry}. */
export interface OAuthEntry {
  readonly clientId?: string;
  readonly clientSecret?: string;
  /**
   * The https address of a document that describes the client. For servers that accept such a document in place of an
   * id.
   */
  readonly clientMetadataUrl?: string;
  /** The address of the authorization server that knows the client. Only this server gets the secret. */
  readonly issuer?: string;
  /** Scopes, separated by blanks. Default: the scopes that the server requests. */
  readonly scope?: string;
  /** The port of `http://127.0.0.1:PORT/callback`, if the authorization server requires a registered port. */
  readonly callbackPort?: number;
  /** `client_credentials`: the program signs in at `issuer` with `clientId` and `clientSecret`. By default a user signs in. */
  readonly grant?: "authorization_code" | "client_credentials";
}

/**
 * One entry of `mcpServers`, in the common format of MCP clients. `${NAME}` in a text is replaced by the user's variable.
 * See {@link readEntry}.
 */
export type McpServerEntry = StdioEntry | HttpEntry;

/** Returns whether the server of an entry is a program. */
export function isStdio(entry: McpServerEntry): entry is StdioEntry {
  return "command" in entry;
}

const VARIABLES = 'an object with texts, as in {"LOG_LEVEL":"debug"}';
const MILLISECONDS = "milliseconds, a whole number above 0";
const PORT = "a port, from 1 to 65535";
const ADDRESS = "an address that begins with http:// or https://";

const texts = (form: string) => z.record(z.string(), z.string(form), form);
const text = (form: string) => z.string(form).min(1, form);

const oauth = z.strictObject(
  {
    clientId: text("the id of a client").describe("The id of the client at the authorization server.").optional(),
    clientSecret: text("the secret of a client")
      .describe("The secret of the client. Banyan sends the secret only to `issuer`.")
      .optional(),
    clientMetadataUrl: z
      .url({ protocol: /^https$/, error: "an address that begins with https://" })
      .describe("The address of a document that describes the client. Such a client needs no id.")
      .optional(),
    issuer: z
      .url({ protocol: /^https?$/, error: ADDRESS })
      .describe("The address of the authorization server.")
      .optional(),
    scope: text("scopes separated by spaces")
      .describe("Scopes, separated by spaces. Default: the scopes that the server requests.")
      .optional(),
    callbackPort: z
      .int(PORT)
      .min(1, PORT)
      .max(65_535, PORT)
      .describe("A fixed port for the callback of the sign-in, `http://127.0.0.1:PORT/callback`.")
      .optional(),
    grant: z
      .enum(["authorization_code", "client_credentials"], '"authorization_code" or "client_credentials"')
      .describe("`client_credentials`: Banyan signs in without a user. Default: a user signs in.")
      .optional(),
  },
  "an object with clientId, clientSecret, clientMetadataUrl, issuer, scope, callbackPort or grant",
);

const shape = z.strictObject(
  {
    type: z
      .enum(["stdio", "http", "streamable-http"], '"stdio" or "http"; the older "sse" is not supported')
      .describe("`stdio` for a program, `http` for an address. Optional.")
      .optional(),
    command: text("the program to run").describe("The program to run.").optional(),
    args: z.array(z.string("a text"), "a list of texts").describe("Arguments of the program.").optional(),
    env: texts(VARIABLES)
      .describe("Environment variables for the program, in addition to a few of your own that are not secret.")
      .optional(),
    cwd: text("a folder")
      .describe(
        "The folder where the program runs. Default: the workspace, or the root folder for a package runner (npx).",
      )
      .optional(),
    url: z
      .url({ protocol: /^https?$/, error: ADDRESS })
      .describe("The address of a server that speaks streamable HTTP.")
      .optional(),
    headers: texts('an object with texts, as in {"X-Api-Version":"2"}')
      .describe("Headers that are sent only to `url`.")
      .optional(),
    oauth: oauth.describe("Sign-in data for servers that do not let clients register themselves.").optional(),
    timeout: z
      .int(MILLISECONDS)
      .positive(MILLISECONDS)
      .describe(
        "Maximum milliseconds without a sign of life from the server. Default: 30,000 until the server is ready, 600,000 in a call.",
      )
      .optional(),
    disabled: z
      .boolean("true or false")
      .describe("If `true`, Banyan keeps the settings of this server but does not use the server.")
      .optional(),
  },
  'an object, as in {"command":"node","args":["server.mjs"]} or {"url":"https://..."}',
);

const OF_PROGRAMS = ["args", "env", "cwd"] as const;
const OF_ADDRESSES = ["headers", "oauth"] as const;

/** The schema of an entry of `mcpServers`. Its error messages name the expected value. */
export const mcpServerEntry = shape.superRefine((entry, context) => {
  const wrong = (key: string, message: string) => context.addIssue({ code: "custom", path: [key], message });
  const { command, url, type = command === undefined ? "http" : "stdio" } = entry;
  if (command === undefined && url === undefined) {
    context.addIssue({ code: "custom", message: "an object with a command or a url" });
  } else if (command !== undefined && url !== undefined) wrong("url", "no url together with a command");
  else if ((type === "stdio") !== (command !== undefined)) {
    wrong("type", `"${command === undefined ? "http" : "stdio"}", or nothing`);
  }
  for (const key of command === undefined ? OF_PROGRAMS : OF_ADDRESSES) {
    if (entry[key] !== undefined) wrong(key, `no ${key} together with a ${command === undefined ? "url" : "command"}`);
  }
  const { grant, clientId, clientSecret, issuer } = entry.oauth ?? {};
  if (grant === "client_credentials" && [clientId, clientSecret, issuer].includes(undefined)) {
    wrong("oauth", "clientId, clientSecret and issuer, because the program signs in by itself");
  }
});

/** The name of an MCP server: at most 64 letters, digits, `_`, `-` and `.`. The names of its tools contain this name. */
export const mcpServerName = z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/, "a name of letters, digits, dots, _ and -");

/**
 * Validates an entry of `mcpServers`. Throws an `McpError` that names the server, the field and the expected value.
 * @example const entry = readEntry("notes", JSON.parse('{ "command": "notes-server" }'));
 */
export function readEntry(name: string, value: unknown): McpServerEntry {
  const named = mcpServerName.safeParse(name);
  if (!named.success) {
    throw new McpError("entry", `The MCP server ${JSON.stringify(name)} needs ${named.error.issues[0]?.message}.`);
  }
  const read = mcpServerEntry.safeParse(value);
  if (read.success) {
    const { type: _, ...entry } = read.data;
    return entry as McpServerEntry;
  }
  const [issue] = read.error.issues;
  const place = issue?.path.join(".") ?? "";
  const what =
    issue?.code === "unrecognized_keys" ? `'${issue.keys[0]}' is not known` : `expected ${issue?.message ?? "another"}`;
  throw new McpError(
    "entry",
    `The entry of the MCP server "${name}" is invalid: ${place === "" ? "" : `${place}: `}${what}.`,
  );
}
