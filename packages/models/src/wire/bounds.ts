/** How much is read of one answer, and for how long a model is waited for that has answered. */
export interface WireBounds {
  /** Bytes of one line, or of one event. Default 16 MiB. */
  readonly line?: number | undefined;
  /** Bytes of an answer that does not stream; sixteen times as many of one that does. Default 64 MiB. */
  readonly answer?: number | undefined;
  /**
   * Milliseconds for which the end of the connection, and the usage behind an answer, are waited for once the answer has
   * ended. Default 5,000.
   */
  readonly linger?: number | undefined;
}

const MEBI = 1024 * 1024;

/** What counts where nothing is set. */
export const WIRE_BOUNDS: Readonly<Record<keyof WireBounds, number>> = {
  line: 16 * MEBI,
  answer: 64 * MEBI,
  linger: 5_000,
};

/** Streams say little with many bytes: each word has an event of its own around it. */
export const STREAM_FACTOR = 16;

/** Those that are set, and the defaults of the others. */
export function wireBounds(set: WireBounds = {}): Readonly<Record<keyof WireBounds, number>> {
  const { line = WIRE_BOUNDS.line, answer = WIRE_BOUNDS.answer, linger = WIRE_BOUNDS.linger } = set;
  return { line, answer, linger };
}
