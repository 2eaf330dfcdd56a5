import { z } from "zod";
import { listedConversation } from "./commands/conversations.ts";
import { feedItem } from "./feed-item.ts";
import { planApproval } from "./parts.ts";
import { id, list, text } from "./shapes.ts";
import { snapshot } from "./snapshot.ts";

/** The first frame of a client. */
export const hello = z.object({
  type: z.literal("hello"),
  protocol: text(0, 20).describe("The version that the client speaks, as in 1.0."),
  client: text(0, 200).describe("Name and version, for logs."),
  proof: text(0, 100).optional().describe("Proof of a signed-in page's key."),
});

/** To a page that has the cookie of a sign-in, before anything else: it says hello with a proof that it has the key too (S20). */
const challenge = z.object({ type: z.literal("challenge"), challenge: z.string() });

/** The settings that hold for all conversations without settings of their own. */
export const settings = z.object({
  model: z.string(),
  approval: z.enum(["plan", "ask", "edits", "all"]),
  unasked: list(id).default([]).describe("Conversations with approval all."),
  carriedOut: list(z.object({ conversation: id, approval: planApproval }))
    .default([])
    .describe("Conversations with an allowed plan under approval plan, and its approval."),
});

/** The first frame of a server. */
const welcome = z.object({
  type: z.literal("welcome"),
  protocol: z.string().describe("The version that the server speaks."),
  server: z.string().describe("A name and a version."),
  rights: list(z.enum(["show", "watch", "act"])).describe("Rights of this client."),
  only: z
    .object({ conversation: id, leaf: id.optional() })
    .optional()
    .describe("For a link: its conversation, and the end of its branch, if it shows one."),
  agent: z.string(),
  workspace: z.string().describe("The agents' directory."),
  settings,
  notices: list(z.string())
    .optional()
    .describe("With the right to act: omissions of settings, instructions, skills and commands, a sentence each."),
});

/** Instead of `welcome`: the two cannot talk, and the connection ends. */
const refused = z.object({ type: z.literal("refused"), protocol: z.string(), message: z.string() });

/**
 * Why a command was not carried out. `malformed`: it does not fit its schema. `unknown-command`: of a newer version.
 * `forbidden`: the client may not. `busy`: too many commands at once. `not-found`, `ambiguous`: no conversation, message,
 * question, input or run of that name, or several. `locked`: another program has the conversation open. `damaged`: it
 * cannot be read. `invalid`: it cannot be done as things are. `unconfirmed`: a
 * person must say yes to it first (`confirmed`). `stopping`: the server ends. `failed`: the server's fault.
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

/** One of `errorCodes`. */
export type ErrorCode = (typeof errorCodes)[number];

/** What a person is told, and a code for programs. A newer server may have more codes. */
export const problem = z.object({ code: z.string(), message: z.string() });

/** A command was carried out; with what its schema says. */
const done = z.object({ type: z.literal("done"), id, result: z.record(z.string(), z.unknown()) });

/** A command was not carried out. */
const failed = z.object({ type: z.literal("failed"), id, error: problem });

/** What happened in a conversation, in order. */
const feed = z.object({ type: z.literal("feed"), conversation: id, items: list(feedItem) });

/**
 * The client gets no more of a feed. `removed`: the conversation is gone. `broken`: its log cannot be written any more;
 * `message` says why.
 */
const ended = z.object({
  type: z.literal("ended"),
  conversation: id,
  reason: z.enum(["removed", "broken"]),
  message: z.string(),
});

/** What changed in the list of conversations, for who watches it. */
const conversations = z.object({
  type: z.literal("conversations"),
  changed: list(listedConversation),
  removed: list(id),
});

/** The settings are others now. */
const settingsChanged = z.object({ type: z.literal("settings"), settings });

/** The server is still there. It comes every 30 s, for clients that are not told of pings: those in browsers. */
const alive = z.object({ type: z.literal("alive") });

/** The server ends; what ran was interrupted and is in the log. */
const stopping = z.object({ type: z.literal("stopping"), message: z.string() });

/** What the client did makes the server end the connection. */
const fault = z.object({ type: z.literal("fault"), message: z.string() });

/** Everything that a server sends. A client passes over a frame whose type it does not know. */
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

/** A frame of a server. */
export type ServerFrame = z.infer<typeof serverFrame>;

/** The first frame of a client. */
export type Hello = z.infer<typeof hello>;

/** What agents work with. */
export type ServerSettings = z.infer<typeof settings>;

/** Why a command was not carried out. */
export type Problem = z.infer<typeof problem>;

/** The first frame of a server. */
export type Welcome = z.infer<typeof welcome>;
