/** Pieces of a text of about the length of tokens; a few need escapes, or more than one byte for a character. */
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

/** The pieces of a text that comes in so many chunks. */
export function piecesOf(chunks: number): string[] {
  return Array.from({ length: chunks }, (_, index) => PIECES[index % PIECES.length] ?? "");
}

/** The text that an answer of so many chunks says. */
export function textOf(chunks: number): string {
  return piecesOf(chunks).join("");
}

/** The arguments of a call of the tool `look`, in pieces. */
export function inputOf(call: number): string[] {
  return ['{"', "path", '":"', "src/chapter-", `${call}.md`, '"}'];
}

/** How a wire format says answers, and reads what a client has done. */
export interface Answers {
  /** The events of an answer that says a text in so many chunks; the number tells it from others of its conversation. */
  text(chunks: number, number?: number): Buffer[];
  /** The events of an answer that calls the tool `look`, its arguments in pieces. */
  call(number: number): Buffer[];
  /** The number of the last call whose result is in a request; 0 when there is none. */
  lastCall(request: Buffer): number;
}

/** The number that stands in a request behind the last of these marks; 0 when there is none. */
export function numberBehind(mark: string, request: Buffer): number {
  const at = request.lastIndexOf(mark);
  return at < 0 ? 0 : Number.parseInt(request.toString("latin1", at + mark.length, at + mark.length + 9), 10);
}
