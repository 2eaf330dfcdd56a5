/** Bytes of the largest frame that a client may send; a larger one ends the connection. */
export const LARGEST_FRAME = 8 * 1024 * 1024;

/** Bytes of all files of a message together: in base 64, with what stands around them, they fit into a frame. */
export const LARGEST_FILES = Math.floor((LARGEST_FRAME * 3) / 4) - 512 * 1024;

/** Messages that one `message.read` may ask for. */
export const MESSAGES_AT_ONCE = 500;

/** Branches that one `branch.fan` may ask. */
export const BRANCHES_AT_ONCE = 8;

/** Conversations that one list may ask for. */
export const CONVERSATIONS = 10_000;

/** Messages that one search may ask for. */
export const HITS = 1_000;

/** Characters of a message that stand in the outline of the tree. */
export const FIRST_WORDS = 60;

/** Milliseconds between two signs of life of the server on a WebSocket: a ping, and `alive`. Who answers no ping is gone. */
export const SIGN_OF_LIFE = 30_000;

/**
 * Milliseconds without a frame from the server after which a client connects anew: a connection may break without any sign.
 */
export const SILENCE = 2 * SIGN_OF_LIFE;

/** How the server ends a WebSocket, beside the codes of RFC 6455. */
export const closeCodes = {
  /** The server stops; try again later. */
  stopping: 1001,
  /** A frame that is no JSON, or that has no schema here; also a command before `hello`. */
  malformed: 4400,
  /** A page did not prove that it signed in: it has to do so anew. */
  unproven: 4401,
  /** `hello` came too late, or not at all. */
  silent: 4408,
  /** The client speaks another major version of the protocol: a newer page or program is needed. */
  version: 4426,
  /** Too many commands in too short a time. */
  hasty: 4429,
} as const;

/** Bytes of a frame of a client that may only watch: none of its commands is long. */
export const LARGEST_OF_WATCHERS = 64 * 1024;
