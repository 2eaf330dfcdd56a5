/** Limits of size and time for reading one answer of a model. See {@link ResolveOptions}. */
export interface WireBounds {
  /** Maximum bytes of one line or event. Default 16 MiB. */
  readonly line?: number | undefined;
  /** Maximum bytes of an answer that does not stream. A stream can have 16 times as much. Default 64 MiB. */
  readonly answer?: number | undefined;
  /** Milliseconds to wait after an answer for its usage and the end of the connection. Default 5,000. */
  readonly linger?: number | undefined;
}

const MEBI = 1024 * 1024;

/** The default values of `WireBounds`. */
export const WIRE_BOUNDS: Readonly<Record<keyof WireBounds, number>> = {
  line: 16 * MEBI,
  answer: 64 * MEBI,
  linger: 5_000,
};

/** A stream can be larger than a whole answer by this factor, because each fragment has an event around it. */
export const STREAM_FACTOR = 16;

/** Returns all limits: each value in `set`, or else its default. */
export function wireBounds(set: WireBounds = {}): Readonly<Record<keyof WireBounds, number>> {
  const { line = WIRE_BOUNDS.line, answer = WIRE_BOUNDS.answer, linger = WIRE_BOUNDS.linger } = set;
  return { line, answer, linger };
}
