import { encodeText, takeMemory } from "./bytes.ts";

/** The JSON body of a request: the text before a list, the list's entries, and the text after it. */
export interface ListBody {
  /** The messages that the list contains in encoded form. This object identifies the growing list across requests. */
  readonly of: object;
  readonly before: string;
  /**
   * The JSON of each entry, after a comma. The entries are bytes, because text would be encoded again for each request.
   */
  readonly pieces: readonly Uint8Array[];
  readonly after: string;
}

/** A body at the start of a memory block, which may be larger. */
interface BodyMemory {
  readonly memory: Uint8Array;
  readonly length: number;
  readonly before: string;
  readonly pieces: readonly Uint8Array[];
}

/** Writes request bodies whose list grows with each step. Keeps the last body, and writes only new entries. */
export class ListBodies {
  readonly #last = new WeakMap<object, { written: BodyMemory | undefined }>();

  /** Calls `send` with the bytes, which stay unchanged until its promise settles. Rejects as `send` does. */
  async send(body: ListBody, send: (bytes: Uint8Array) => Promise<void>): Promise<void> {
    let last = this.#last.get(body.of);
    if (!last) {
      last = { written: undefined };
      this.#last.set(body.of, last);
    }
    const written = writeBody(body, last.written);
    // A parallel request, or one after a failure, gets its own memory: a server may still read the last body.
    last.written = undefined;
    await send(written.memory.subarray(0, written.length));
    last.written = written;
  }
}

/** Returns the bytes of a request body. */
export function bodyBytes(body: ListBody): Uint8Array {
  const { memory, length } = writeBody(body, undefined);
  return memory.subarray(0, length);
}

function writeBody({ before, pieces, after }: ListBody, last: BodyMemory | undefined): BodyMemory {
  // The text before the list replaces the first comma.
  const head = encodeText(before);
  const tail = encodeText(after);
  let end = head.length - (pieces.length > 0 ? 1 : 0);
  const length = pieces.reduce((sum, piece) => sum + piece.length, end) + tail.length;
  let shared = 0;
  if (last?.before === before) {
    for (; shared < pieces.length && pieces[shared] === last.pieces[shared]; shared++)
      end += (pieces[shared] as Uint8Array).length;
  }
  const memory = last && last.memory.length >= length ? last.memory : takeMemory(last ? 2 * length : length);
  if (last && memory !== last.memory) memory.set(last.memory.subarray(0, end));
  for (let index = shared; index < pieces.length; index++) {
    const piece = pieces[index] as Uint8Array;
    memory.set(piece, end);
    end += piece.length;
  }
  if (shared === 0) memory.set(head);
  memory.set(tail, end);
  return { memory, length, before, pieces };
}
