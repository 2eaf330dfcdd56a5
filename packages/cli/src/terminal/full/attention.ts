import { cutTo, visibleLine } from "@banyan/core/shown";

/** How a person is told who does not look: as their terminal can, with a bell, by the bell alone, or not at all. */
export type AttentionHow = "auto" | "bell" | "off";

/** Characters of what is told. */
const LONGEST = 200;

const BELL = "\x07";

/**
 * Tells a person of something that waits for them while they do not look (C2): by a notification of their terminal and its
 * bell. Whether they look the terminal says; one that never does is taken to be looked at, so that nobody is told what they
 * see. The same is told once until they look again.
 */
export class Attention {
  readonly #write: (text: string) => void;
  readonly #env: NodeJS.ProcessEnv;
  #how: AttentionHow = "auto";
  #isLooking = true;
  readonly #told = new Set<string>();

  constructor(write: (text: string) => void, env: NodeJS.ProcessEnv) {
    this.#write = write;
    this.#env = env;
  }

  use(how: AttentionHow): void {
    this.#how = how;
  }

  /** The person looks at the terminal, or no longer. */
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

/** What makes a terminal notify its person, as far as it is known to be able to; else nothing. */
export function notification(sentence: string, { TERM = "", TERM_PROGRAM = "", TMUX, STY }: NodeJS.ProcessEnv): string {
  const text = cutTo(visibleLine(sentence), LONGEST, "");
  // What multiplexes terminals passes on the bell alone.
  if (TMUX || STY) return "";
  if (/kitty/.test(TERM)) return `\x1b]99;;${text}\x1b\\`;
  if (/^(foot|rxvt|contour)/.test(TERM)) return `\x1b]777;notify;banyan;${text.replaceAll(";", ",")}\x1b\\`;
  if (/^(iTerm\.app|WezTerm|ghostty)$/i.test(TERM_PROGRAM) || /ghostty/.test(TERM)) return `\x1b]9;${text}\x1b\\`;
  return "";
}
