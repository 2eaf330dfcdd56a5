/**
 * Maximum bytes of a client's frame; a larger frame ends the connection.
 * @example const fits = JSON.stringify({ type: "hello", protocol: PROTOCOL }).length <= LARGEST_FRAME;
 */
export const LARGEST_FRAME = 8 * 1024 * 1024;

/**
 * Maximum bytes of all files of a message together. In base 64, files of this size fit into one frame.
 * @example const fits = base64Size("SGk=") <= LARGEST_FILES;
 */
export const LARGEST_FILES = Math.floor((LARGEST_FRAME * 3) / 4) - 512 * 1024;

/**
 * Maximum number of messages in one `message.read`.
 * @example
 * const messages = [...session.state.messages.keys()].slice(0, MESSAGES_AT_ONCE);
 * await client.ask("message.read", { conversation: "garden", messages });
 */
export const MESSAGES_AT_ONCE = 500;

/**
 * Maximum number of branches in one `branch.fan`.
 * @example const models = ["openai/gpt-5", "anthropic/claude-sonnet-4-5"].slice(0, BRANCHES_AT_ONCE);
 */
export const BRANCHES_AT_ONCE = 8;

/**
 * Maximum number of conversations in one list.
 * @example await client.ask("conversation.list", { limit: CONVERSATIONS });
 */
export const CONVERSATIONS = 10_000;

/**
 * Number of conversations in one list, if the client asks for no other number.
 * @example
 * const { conversations } = await client.ask("conversation.list", {});
 * const isLastPage = conversations.length < CONVERSATIONS_AT_ONCE;
 */
export const CONVERSATIONS_AT_ONCE = 500;

/**
 * Maximum number of hits in one search.
 * @example await client.ask("conversation.search", { query: "oak", limit: HITS });
 */
export const HITS = 1_000;

/**
 * Maximum number of characters of a message in the outline of the tree.
 * @example const beginning = cutTo("A long message", FIRST_WORDS);
 */
export const FIRST_WORDS = 60;

/**
 * The server sends a ping and an `alive` frame at this interval, in milliseconds. It disconnects a client that answers
 * no ping.
 * @example console.log(`A ping every ${SIGN_OF_LIFE / 1_000} s`);
 */
export const SIGN_OF_LIFE = 30_000;

/**
 * Milliseconds without data after which a client reconnects. The connection may be broken although no end was reported.
 * @example const reconnect = setTimeout(() => console.error("The server is silent."), SILENCE);
 */
export const SILENCE = 2 * SIGN_OF_LIFE;

/**
 * Close codes of the server's WebSocket, in addition to those of RFC 6455.
 * @example const isStopping = (code: number) => code === closeCodes.stopping;
 */
export const closeCodes = {
  /** The server stops; try again later. */
  stopping: 1001,
  /** A frame that is not JSON or fits no schema, or a command before `hello`. */
  malformed: 4400,
  /** The page did not prove its sign-in, and must sign in again. */
  unproven: 4401,
  /** `hello` came too late, or never. */
  silent: 4408,
  /** The client uses another major version of the protocol, so a newer page or program is needed. */
  version: 4426,
  /** Too many commands in too short a time. */
  hasty: 4429,
} as const;

/**
 * Maximum bytes of a frame from a client with the right to watch only. All commands of such a client are short.
 * @example const isShort = (frame: string) => frame.length <= LARGEST_OF_WATCHERS;
 */
export const LARGEST_OF_WATCHERS = 64 * 1024;
