import type { AssistantMessage, Follower, FollowResult, Part } from "@banyan/core";
import type { BlockTarget } from "./address.ts";
import { type ApplyOptions, applyCaptured } from "./apply.ts";
import type { ArmedFile } from "./armed-file.ts";
import { Capture, captureMessage } from "./capture.ts";
import { applyBlocks, symbolLines } from "./new-content.ts";
import { appliedOutcome, doubtfulOutcome, droppedOutcome, emptyOutcome } from "./outcome.ts";

/** A file with blocks that are complete, while the message still streams. */
export interface FileAhead {
  readonly path: string;
  readonly isNew: boolean;
  /** Resolves with the text of the file after these blocks; undefined if they cannot be applied. */
  text(): Promise<string | undefined>;
  /** Shows users new problems of this text, as lines. */
  show(problems: readonly string[]): void;
}

/** The follower of an `edit_mode` call. */
export interface EditFollower extends Follower {
  /** Returns the files of which blocks became complete since the last call. */
  takeAhead(): readonly FileAhead[];
}

/**
 * The files that `edit_mode` opened in one run ("armed" below), and the message for which they wait.
 *
 * ```
 * armed ──▶ message streams: drafts ──▶ complete: applied or refused ──▶ ended
 *             │                  ▲ ╰──▶ discarded: nothing is written ──▶ ended
 *             ╰── restarted ─────╯
 * ```
 *
 * The blocks are read from the finished message in the log; the stream is only displayed. Each call follows the
 * message, and the follower of the first call acts for all files.
 */
export class EditSession {
  readonly #surroundings: ApplyOptions;
  readonly #ended: () => void;
  readonly #files = new Map<string, ArmedFile>();
  #speaker: Follower | undefined;
  #shown: Capture<ArmedFile> | undefined;
  #ahead: FileAhead[] = [];
  /** The parts of a paused message, which its provider continues later. */
  readonly #parts: Part[] = [];

  /** `ended` is called once, when no file is open for editing any more. */
  constructor(surroundings: ApplyOptions, ended: () => void) {
    this.#surroundings = surroundings;
    this.#ended = ended;
  }

  /** Opens a file for the next message of its run. Opening it again replaces the first. Throws if the call cannot wait. */
  arm(file: ArmedFile): void {
    const follower: EditFollower = {
      text: (delta, kind) => {
        if (kind === "text" && this.#speaker === follower) this.#show(delta);
      },
      completed: (message) => {
        if (this.#speaker === undefined) return undefined;
        if (message.finish === "paused") return this.#pause(message, follower);
        return this.#speaker === follower ? this.#complete(message) : undefined;
      },
      dropped: (reason) => (this.#speaker === undefined ? undefined : droppedOutcome(this.#end(), reason)),
      restarted: () => {
        this.#shown = undefined;
        this.#ahead = [];
      },
      takeAhead: () => (this.#speaker === follower ? this.#ahead.splice(0) : []),
    };
    file.context.follow(follower);
    this.#speaker ??= follower;
    this.#files.delete(file.path);
    this.#files.set(file.path, file);
  }

  #show(delta: string): void {
    this.#shown ??= this.#capture();
    this.#shown.push(delta);
  }

  #capture(): Capture<ArmedFile> {
    const capture: Capture<ArmedFile> = new Capture([...this.#files.values()], {
      grew: showDraft,
      closed: (file, index) => {
        const { path, snapshot, context } = file;
        const blocks = capture.closedBlocks(file);
        this.#ahead.push({
          path,
          isNew: snapshot === undefined,
          // The result of the message names blocks that cannot be applied.
          text: async () =>
            (await applyBlocks(this.#surroundings.workspace, file, blocks).catch(() => undefined))?.text,
          show: (problems) => context.draft({ index, path, text: "", problems }),
        });
      },
    });
    return capture;
  }

  #pause({ parts }: AssistantMessage, follower: Follower): FollowResult {
    if (this.#speaker === follower) this.#parts.push(...parts);
    return { again: true };
  }

  async #complete({ parts }: AssistantMessage): Promise<FollowResult> {
    const files = [...this.#files.values()];
    const captured = captureMessage([...this.#parts, ...parts], files);
    const paths = this.#end();
    if (captured.doubts.length > 0) return doubtfulOutcome(paths, captured.doubts);
    if (captured.blocks.length + captured.wrong.length === 0) return emptyOutcome(paths, captured.plain);
    return appliedOutcome(await applyCaptured(this.#surroundings, files, captured));
  }

  #end(): string[] {
    const paths = [...this.#files.keys()];
    this.#speaker = undefined;
    this.#files.clear();
    this.#ended();
    return paths;
  }
}

function showDraft(file: ArmedFile, index: number, target: BlockTarget, text: string): void {
  file.context.draft({ index, path: file.path, ...replacedLines(file, target), text });
}

/** Returns the lines that a block replaces; empty for a whole file and for an unknown symbol. */
function replacedLines(file: ArmedFile, target: BlockTarget): { readonly start?: number; readonly end?: number } {
  switch (target.type) {
    case "lines":
      return { start: target.start, end: target.end };
    case "symbol": {
      const lines = symbolLines(file, target);
      return typeof lines === "string" ? {} : lines;
    }
    case "complete":
      return {};
  }
}
