import { cutTo, visibleLine } from "@banyan/core/shown";
import type { AttentionSetting } from "../contract/live-terminal.ts";

const LONGEST = 200;

const BELL = "\x07";

/**
 * Notifies a user who is not looking about something that waits (C2). The terminal reports whether it has the focus; a
 * terminal without focus reports is treated as focused. Sends each sentence once until the user looks again.
 */
export class Attention {
  readonly #write: (text: string) => void;
  readonly #env: NodeJS.ProcessEnv;
  #how: AttentionSetting = "auto";
  #isLooking = true;
  readonly #told = new Set<string>();

  constructor(write: (text: string) => void, env: NodeJS.ProcessEnv) {
    this.#write = write;
    this.#env = env;
  }

  use(how: AttentionSetting): void {
    this.#how = how;
  }

  looks(isLooking: boolean): void {
    this.#isLooking = isLooking;
    if (isLooking) this.#told.clear();
  }

  call(sentence: string): void {
    if (this.#isLooking || this.#how === "off" || this.#told.has(sentence)) return;
    this.#told.add(sentence);
    this.#write((this.#how === "auto" ? notification(sentence, this.#env) : "") + BELL);
  }
}

/** Returns the escape sequence that makes a terminal show a notification. Empty if the terminal has none. */
export function notification(sentence: string, { TERM = "", TERM_PROGRAM = "", TMUX, STY }: NodeJS.ProcessEnv): string {
  const text = cutTo(visibleLine(sentence), LONGEST, "");
  if (TMUX || STY) return "";
  if (/kitty/.test(TERM)) return `\x1b]99;;${text}\x1b\\`;
  if (/^(foot|rxvt|contour)/.test(TERM)) return `\x1b]777;notify;banyan;${text.replaceAll(";", ",")}\x1b\\`;
  if (/^(iTerm\.app|WezTerm|ghostty)$/i.test(TERM_PROGRAM) || /ghostty/.test(TERM)) return `\x1b]9;${text}\x1b\\`;
  return "";
}
