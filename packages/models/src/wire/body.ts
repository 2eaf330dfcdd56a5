/**
 * The body of a request: between two texts a list, of which each piece is there as bytes already and begins with a comma.
 *
 * Pieces are kept as bytes because a text of many is encoded anew each time: several times slower as soon as one letter
 * of it is not of Latin-1.
 */
export function listBody(before: string, pieces: readonly Uint8Array[], after: string): Buffer {
  const parts = [Buffer.from(before), ...pieces, Buffer.from(after)];
  if (pieces[0]) parts[1] = pieces[0].subarray(1);
  return Buffer.concat(parts);
}
