/** Pieces of text with the length of tokens. A few need escapes or multi-byte characters. */
const PIECES = [
  " the",
  " answer",
  " is",
  " a",
  " tree",
  ",",
  " whose",
  " branches",
  " put",
  " down",
  ' "roots"',
  ".\n",
  " Déjà",
  " vu",
];

/** Returns the pieces of a text with this many chunks. */
export function piecesOf(chunks: number): string[] {
  return Array.from({ length: chunks }, (_, index) => PIECES[index % PIECES.length] ?? "");
}

/** Returns the text of an answer with this many chunks. */
export function textOf(chunks: number): string {
  return piecesOf(chunks).join("");
}

/** Returns the arguments of a call of the tool `look`, in pieces. */
export function inputOf(call: number): string[] {
  return ['{"', "path", '":"', "src/chapter-", `${call}.md`, '"}'];
}

/** A wire format: it encodes answers and reads requests. */
export interface Answers {
  /** Returns the events of an answer with a text in this many chunks. `number` distinguishes answers of a conversation. */
  text(chunks: number, number?: number): Buffer[];
  /** Returns the events of an answer that calls the tool `look`, with arguments in pieces. */
  call(number: number): Buffer[];
  /** Returns the number of the last call whose result is in a request; 0 if none. */
  lastCall(request: Buffer): number;
}

/** Returns the number after the last of these marks in a request; 0 if none. */
export function numberBehind(mark: string, request: Buffer): number {
  const at = request.lastIndexOf(mark);
  return at < 0 ? 0 : Number.parseInt(request.toString("latin1", at + mark.length, at + mark.length + 9), 10);
}
