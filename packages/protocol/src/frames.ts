import { z } from "zod";
import { listedConversation } from "./commands/conversations.ts";
import { settings } from "./commands/settings.ts";
import { feedItem } from "./shapes/feed-item.ts";
import { id, listSchema, textSchema } from "./shapes/shapes.ts";
import { snapshot } from "./shapes/snapshot.ts";

/**
 * Schema of the first frame of a client.
 * @example const { protocol } = hello.parse({ type: "hello", protocol: PROTOCOL, client: "garden 1.0" });
 */
export const hello = z.object({
  type: z.literal("hello"),
  protocol: textSchema(0, 20).describe("Protocol version of the client, such as `1.0`."),
  client: textSchema(0, 200).describe("Name and version, for logs."),
  proof: textSchema(0, 100).optional().describe("Proves that the page has the key of its sign-in."),
});

/** Sent first to a page with a sign-in cookie: its hello must prove that it also has the key (S20). */
const challenge = z.object({ type: z.literal("challenge"), challenge: z.string() });

const welcome = z.object({
  type: z.literal("welcome"),
  protocol: z.string().describe("Protocol version of the server."),
  server: z.string().describe("Name and version."),
  rights: listSchema(z.enum(["show", "watch", "act"])).describe("Rights of this client."),
  only: z
    .object({ conversation: id, leaf: id.optional() })
    .optional()
    .describe(
      "For a share link: the shared conversation. If the link shows only one branch, also the last message of that branch.",
    ),
  agent: z.string(),
  workspace: z.string().describe("Directory in which the agents work. Empty if the agents have no files."),
  settings,
  without: listSchema(z.string())
    .optional()
    .describe("Commands that the server always refuses. Clients do not offer these commands."),
  notices: listSchema(z.string())
    .optional()
    .describe(
      "One sentence for each setting, instruction file, skill or command that the server does not use. Only for clients with the right `act`.",
    ),
});

/** Sent instead of `welcome` if the versions are not compatible; the connection then ends. */
const refused = z.object({ type: z.literal("refused"), protocol: z.string(), message: z.string() });

/**
 * Codes for a failed command. `malformed`: the command does not match its schema. `unknown-command`: the server does
 * not know the command. `forbidden`: the client lacks the right. `busy`: too many commands at once. `not-found`: no
 * conversation, message, question, input or run has this id or name. `ambiguous`: several have this id or name.
 * `locked`: another program has the conversation open. `damaged`: the conversation cannot be read. `invalid`: the
 * command is impossible in the current state. `unconfirmed`: a user must first confirm the command (`confirmed`).
 * `stopping`: the server is stopping. `failed`: a fault of the server.
 * @example errorCodes.some((code) => code === "not-found") // true
 */
export const errorCodes = [
  "malformed",
  "unknown-command",
  "forbidden",
  "busy",
  "not-found",
  "ambiguous",
  "locked",
  "damaged",
  "invalid",
  "unconfirmed",
  "stopping",
  "failed",
] as const;

/** One of `errorCodes`. See {@link errorCodes}. */
export type ErrorCode = (typeof errorCodes)[number];

export const problem = z.object({ code: z.string(), message: z.string() });

const done = z.object({ type: z.literal("done"), id, result: z.record(z.string(), z.unknown()) });

const failed = z.object({ type: z.literal("failed"), id, error: problem });

const feed = z.object({ type: z.literal("feed"), conversation: id, items: listSchema(feedItem) });

/** `removed`: the conversation was removed. `broken`: its log cannot be written; `message` has the reason. */
const ended = z.object({
  type: z.literal("ended"),
  conversation: id,
  reason: z.enum(["removed", "broken"]),
  message: z.string(),
});

/** Changes in the list of conversations, for clients that watch it. */
const conversations = z.object({
  type: z.literal("conversations"),
  changed: listSchema(listedConversation),
  removed: listSchema(id),
});

const settingsChanged = z.object({ type: z.literal("settings"), settings });

/** Sign of life of the server every 30 s, for browsers, which do not see pings. */
const alive = z.object({ type: z.literal("alive") });

/** The server stops. Running work was interrupted and is in the log. */
const stopping = z.object({ type: z.literal("stopping"), message: z.string() });

/** The server ends the connection because of a fault of the client. */
const fault = z.object({ type: z.literal("fault"), message: z.string() });

/**
 * All frames of a server. Clients ignore frames of unknown types.
 * @example
 * const frame = serverFrame.parse(JSON.parse(await readFile("frame.json", "utf8")));
 * if (frame.type === "feed") console.log(frame.items.length);
 */
export const serverFrame = z.discriminatedUnion("type", [
  challenge,
  welcome,
  refused,
  done,
  failed,
  snapshot,
  feed,
  ended,
  conversations,
  settingsChanged,
  alive,
  stopping,
  fault,
]);

/** A frame of a server. See {@link serverFrame}. */
export type ServerFrame = z.infer<typeof serverFrame>;

/** The first frame of a client. See {@link hello}. */
export type Hello = z.infer<typeof hello>;

/**
 * The failure of a command: a message for users, and a code for programs. A newer server can send other codes.
 * @example const problem: Problem = { code: "not-found", message: "There is no conversation garden." };
 */
export type Problem = z.infer<typeof problem>;

/** The first frame of a server. See {@link Client}. */
export type Welcome = z.infer<typeof welcome>;
