/** What a block of code in Markdown begins with, and so what it ends with. */
export interface Fence {
  readonly mark: "`" | "~";
  readonly length: number;
  /** Blanks before it, which its lines have too. */
  readonly indent: number;
  readonly language: string;
}

/** The fence that a block of code begins with; nothing when it has none, or when that line is not whole yet. */
export function begunFence(raw: string, language: string): Fence | undefined {
  const [, indent = "", marks = ""] = /^( {0,3})(`{3,}|~{3,})[^\n]*\n/.exec(raw) ?? [];
  if (marks === "") return undefined;
  return { mark: marks.startsWith("`") ? "`" : "~", length: marks.length, indent: indent.length, language };
}

/** Whether a line ends the code; a line that is not whole yet ends it perhaps as soon as it has one mark. */
export function isClosing(line: string, { mark, length }: Fence, isPart = false): boolean {
  const marks = line.trim();
  return marks.length >= (isPart ? 1 : length) && marks === mark.repeat(marks.length) && !/^ {4}/.test(line);
}
