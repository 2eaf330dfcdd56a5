/**
 * The body of a request: between two texts a list, of which each piece is there as bytes already and begins with a comma.
 *
 * Pieces are kept as bytes because a text of many is encoded anew each time: several times slower as soon as one letter
 * of it is not of Latin-1.
 */
export function listBody(before: string, pieces: readonly Uint8Array[], after: string): Buffer {
  const [first, ...rest] = pieces;
  return Buffer.concat([Buffer.from(before), ...(first ? [first.subarray(1)] : []), ...rest, Buffer.from(after)]);
}
