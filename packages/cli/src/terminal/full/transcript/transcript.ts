import { foldNeighbours, foldSentence, hasPlace } from "@banyan/client/display";
import { cutToWidth } from "../screen/cells.ts";
import { type BlockAuthor, type BlockLines, type BlockLook, quietPartOf, type TranscriptBlock } from "./block.ts";

interface TranscriptEntry {
  readonly block: TranscriptBlock;
  /** Final lines that are not printed yet. */
  readonly pending: string[];
  open: readonly string[];
  begun: boolean;
  /** True once all lines are printed. */
  isOver: boolean;
}

type Group = readonly [TranscriptEntry, ...TranscriptEntry[]];

/** The one line of a group, as long as the group and the look stay the same. */
interface KeptFold {
  readonly last: TranscriptEntry | undefined;
  readonly count: number;
  readonly look: BlockLook;
  readonly line: string;
}

/**
 * The unfinished blocks, in order. Returns the final lines of a block when all blocks above are finished, because
 * printed lines never change. Neighbours that fold share one line. This line is final as soon as another block follows
 * (T68). An empty line separates the user's messages from the agent's work.
 */
export class Transcript {
  #entries: TranscriptEntry[] = [];
  /** True if the last finished line is empty or missing. */
  #isApart = true;
  /** True after a message of the user, until the agent's first line. */
  #isUserLast = false;
  #kept: KeptFold | undefined;

  add(block: TranscriptBlock): void {
    this.#entries.push({ block, pending: [], open: [], begun: false, isOver: false });
  }

  show(look: BlockLook): BlockLines {
    for (const entry of this.#entries) {
      const { finished, open } = entry.block.show(look);
      entry.pending.push(...finished);
      entry.open = open;
    }
    const finished = new SpacedLines(this.#isApart, this.#isUserLast);
    const groups = foldNeighbours(this.#entries, ({ block }) => quietPartOf(block));
    const top = groups.findIndex((group, index) => !this.#finish(group, groups[index + 1]?.[0].block, look, finished));
    this.#isApart = finished.isApart;
    this.#isUserLast = finished.isUserLast;
    const open = new SpacedLines(finished.isApart, finished.isUserLast);
    for (const group of top < 0 ? [] : groups.slice(top)) {
      const [{ block, begun }] = group;
      open.add(block.author, this.#linesOf(group, look), begun);
    }
    this.#entries = this.#entries.filter(({ isOver }) => !isOver);
    return { finished: finished.lines, open: open.lines };
  }

  /** Prints the final lines of a group. Returns whether the group is over. */
  #finish(group: Group, next: TranscriptBlock | undefined, look: BlockLook, finished: SpacedLines): boolean {
    const [first] = group;
    const isFold = quietPartOf(first.block) !== undefined;
    // The next block may still join the fold.
    if (isFold && (next === undefined || next.quiet === "open")) return false;
    const lines = isFold ? this.#linesOf(group, look) : first.pending.splice(0);
    finished.add(first.block.author, lines, first.begun);
    first.begun ||= lines.length > 0;
    const isOver = isFold || first.block.isDone;
    for (const entry of group) entry.isOver = isOver;
    return isOver;
  }

  #linesOf(group: Group, look: BlockLook): readonly string[] {
    const [first] = group;
    const parts = group.flatMap(({ block }) => quietPartOf(block) ?? []);
    if (parts.length === 0) return [...first.pending, ...first.open];
    const placed = parts.filter(hasPlace);
    if (placed.length < 2) return group.flatMap(({ pending }) => pending);
    const { theme, width, openKey } = look;
    const kept = this.#kept;
    const isSameLook = kept?.look.theme === theme && kept.look.width === width && kept.look.openKey === openKey;
    const [last, count] = [group.at(-1), group.length];
    if (isSameLook && kept.last === last && kept.count === count) return [kept.line];
    const hint = openKey === undefined ? "" : theme.dim(` (${openKey} shows them)`);
    const line = cutToWidth(`${theme.accent("•")} ${foldSentence(placed)}${hint}`, width);
    this.#kept = { last, count, look, line };
    return [line];
  }
}

/** Lines with an empty line between the user's messages and the agent's work. */
class SpacedLines {
  readonly lines: string[] = [];
  #isApart: boolean;
  #isUserLast: boolean;

  constructor(isApart: boolean, isUserLast: boolean) {
    this.#isApart = isApart;
    this.#isUserLast = isUserLast;
  }

  /** True if the last line is empty or missing. */
  get isApart(): boolean {
    return this.#isApart;
  }

  get isUserLast(): boolean {
    return this.#isUserLast;
  }

  /** `begun`: earlier lines of the same block are above. */
  add(author: BlockAuthor, lines: readonly string[], begun: boolean): void {
    if (lines.length === 0) return;
    const isNew = author === "user" || (author === "agent" && this.#isUserLast);
    if (isNew && !begun && !this.#isApart) this.lines.push("");
    for (const line of lines) this.lines.push(line);
    if (author !== "program") this.#isUserLast = author === "user";
    this.#isApart = this.lines.at(-1) === "";
  }
}
