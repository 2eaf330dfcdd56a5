import {
  type Call,
  type ConversationState,
  callIn,
  type Draft,
  type FeedItem,
  type FileChange,
  isEnded,
  type Recalled,
  textOf,
  toldShortfall,
  toldUnreadable,
  typedText,
  whyEnded,
} from "@banyan/core/conversation";
import { compactedLine, GIVEN_UP, GIVEN_UP_TOO, type ToldType, toldItem, type UntoldType } from "@banyan/core/shown";
import { attachedLine, attachedTo } from "../../../show/attached.ts";
import { changeHead, diffLines } from "../../../show/diff-lines.ts";
import { recalledLine } from "../../../show/memory-lines.ts";
import { isShownByChanges, ToldEnds, undoneLine } from "../../../show/message-label.ts";
import { oneLine } from "../../../show/plain-text.ts";
import { subAgentTold } from "../../../show/sub-agents.ts";
import { runEndSentence } from "../../../show/turn-end.ts";
import type { FeedView } from "../../feed-view.ts";
import { wrapped } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";
import { changeLines, cutTo } from "../views/call-view.ts";
import type { Page } from "../views/viewer.ts";
import { Activities, type Doing } from "./activity.ts";
import { AnswerBlock } from "./answer-block.ts";
import type { Block, BlockLines, BlockLook } from "./block.ts";
import { TextBlock } from "./block.ts";
import { CallBlock } from "./call-block.ts";
import { messageLines, toldLines } from "./message-lines.ts";
import { ThoughtBlock } from "./thought-block.ts";
import { Transcript } from "./transcript.ts";

/** The line of what goes on says who works, and the end of what a call says is in its block. */
type ShownElsewhere = "run.started" | "input.delivered" | "call.output.delta";

/** Pages that can be opened; of more the last. */
const MOST_PAGES = 200;

const ENDS: ReadonlySet<string> = new Set(["call.completed", "call.failed", "call.denied", "call.cancelled"]);

/**
 * Shows a feed as blocks: answers as Markdown that grows, calls that change until they end, and between them what the
 * program says. What is done goes to the scrollback; what is open is drawn anew. Of sub-agents only their calls are shown.
 */
export class LiveView implements FeedView {
  readonly #changed: () => void;
  readonly #transcript = new Transcript();
  readonly #activities = new Activities();
  readonly #toldEnds = new ToldEnds();
  readonly #calls = new Map<string, CallBlock>();
  #pages: Page[] = [];
  /** Why the model was asked again, as it was told last. */
  #hitch: string | undefined;
  /** A part of this turn was given up, and that was told. */
  #gaveUp = false;
  #text: AnswerBlock | ThoughtBlock | undefined;
  /** A command that has said nothing so far. */
  #expected: string | undefined;
  #draft: Draft | undefined;

  /** `changed` is called whenever there is something new to be seen. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Whether the agent works. */
  get isBusy(): boolean {
    return this.#activities.isBusy;
  }

  /** What it does; nothing while it does nothing. */
  get doing(): Doing | undefined {
    return this.#activities.doing;
  }

  /** What was cut or folded, the last at the end. */
  get pages(): readonly Page[] {
    return this.#pages;
  }

  /** The person wants the agent to stop. */
  stopping(): void {
    this.#activities.stop();
    this.#changed();
  }

  /** The state is another one now: what it does not have goes on no more. */
  follow(state: ConversationState | undefined): void {
    if (!this.#activities.follow(state)) return;
    this.#endText();
    for (const [id, block] of this.#calls) {
      const call = state && callIn(state, { call: id });
      if (call) block.update(call);
    }
    this.#changed();
  }

  /** The connection to where the agent works is lost, or back. */
  connected(isConnected: boolean, state: ConversationState): void {
    this.#activities.connected(isConnected, state);
    this.#changed();
  }

  /** What is finished since the last time, and what is open. */
  lines(look: BlockLook): BlockLines {
    return this.#transcript.show(look);
  }

  show(item: FeedItem, state: ConversationState): void {
    if (!this.#activities.note(item, state)) this.#show(item, state);
    else if (item.type !== "model.waiting") this.#tell(subAgentTold(item, state));
    this.#changed();
  }

  say(sentence: string): void {
    this.#add(({ width }) => wrapped(sentence, width));
  }

  note(sentence: string): void {
    this.#add(({ width, theme }) => wrapped(theme.dim(sentence), width));
  }

  answer(text: string): void {
    this.#endText();
    this.#answer().push(text);
    this.#endText();
  }

  line(text: string): void {
    this.#add(() => [text]);
  }

  busyWith(what: string): Disposable {
    const over = this.#activities.own(what);
    this.#changed();
    return {
      [Symbol.dispose]: () => {
        over();
        this.#changed();
      },
    };
  }

  gap(): void {
    // Blocks that stand apart do so by themselves; other lines follow a command, and belong to it.
  }

  /** Shows a command that was typed. */
  command(line: string): void {
    this.#message(line);
  }

  /** Shows one before the first thing that follows it. */
  expect(line: string): void {
    this.#expected = line;
  }

  /** The command before has been carried out. */
  forget(): void {
    this.#expected = undefined;
  }

  #show(item: FeedItem, state: ConversationState): void {
    switch (item.type) {
      case "message.started":
        this.#endText();
        break;
      case "text.delta":
        this.#answer().push(item.text);
        break;
      case "reasoning.delta":
        this.#thought().push(item.text);
        break;
      case "message.completed": {
        this.#endText();
        this.#dropCalls(item.message, state);
        const shortfall = toldShortfall(state.messages.get(item.message));
        if (shortfall !== undefined) this.note(oneLine(shortfall));
        break;
      }
      case "message.abandoned":
        if (this.#text instanceof AnswerBlock && this.#text.hasBegun) {
          this.note(this.#gaveUp ? GIVEN_UP_TOO : GIVEN_UP);
          this.#gaveUp = true;
        }
        this.#endText();
        this.#dropCalls(item.message, state);
        break;
      case "message.added":
        this.#added(item.message, state);
        break;
      case "model.retrying":
        // The line of what goes on counts down; here stands, once for each reason, why.
        if (item.reason !== this.#hitch) this.note(oneLine(item.reason));
        this.#hitch = item.reason;
        break;
      case "memory.recalled":
        this.#recalled(item.items);
        break;
      case "call.input.delta":
      case "call.pending":
      case "call.approval-requested":
      case "call.approval-resolved":
      case "call.executing":
      case "call.completed":
      case "call.failed":
      case "call.denied":
      case "call.cancelled":
        this.#call(callIn(state, item));
        // The state may be ahead of the feed: only the last word on a call ends its block.
        if (ENDS.has(item.type)) this.#calls.delete(item.call);
        break;
      // A card asks it.
      case "question.asked":
        this.#calls.get(item.call)?.asks(item.question);
        break;
      case "question.answered":
        for (const block of this.#calls.values()) block.answered(item.question);
        break;
      case "call.draft.delta":
        this.#drafted({ ...item, index: item.draft, text: "" }, callIn(state, item));
        break;
      case "file.changed":
        // A change that its call made stands below the call; a later one stands by itself.
        if (!this.#calls.has(item.call)) this.#change(item);
        break;
      case "run.ended":
        this.#hitch = undefined;
        this.#gaveUp = false;
        this.#endText();
        this.#add(({ theme, width }) => {
          const sentence = runEndSentence(item.reason, whyEnded(item), theme, item.error?.code);
          return sentence === undefined ? [] : wrapped(sentence, width);
        }, true);
        break;
      // The line of what goes on says it, and for how long.
      case "model.waiting":
        break;
      default:
        item.type satisfies UntoldType | ToldType | ShownElsewhere;
        this.#toldEnds.note(item);
        this.#tell(toldItem(item));
    }
  }

  #tell(told: string | undefined): void {
    if (told !== undefined) this.note(told);
  }

  #added(id: string, state: ConversationState): void {
    const message = state.messages.get(id);
    const unreadable = toldUnreadable(message);
    if (unreadable !== undefined) return this.note(oneLine(unreadable));
    if (message?.role === "summary" && message.compaction) {
      this.note(compactedLine(message.compaction));
      const text = textOf(message);
      return this.#page({ title: "The summary", lines: (width, theme) => toldLines("summary", text, width, theme) });
    }
    if (message?.role !== "user") return;
    if (message.author === "user") {
      this.#message(typedText(message));
      for (const line of attachedLine(attachedTo(message.parts))) this.note(line);
      return;
    }
    const undone = undoneLine(message);
    if (undone !== undefined) this.note(undone);
    else if (!isShownByChanges(message) && !this.#toldEnds.has(message)) this.#told(message.author, textOf(message));
  }

  /** Why something was not done, say: a person reads it as the model does. */
  #told(author: string, text: string): void {
    const lines = (width: number, theme: Theme) => toldLines(author, text, width, theme);
    this.#add(({ width, theme, openKey }) => cutTo(lines(width, theme), theme, openKey));
    this.#page({ title: "What the model was told", lines });
  }

  #recalled(items: readonly Recalled[]): void {
    this.#add(({ width, theme, openKey = "/memory" }) => wrapped(theme.dim(recalledLine(items, openKey)), width));
    this.#page({
      title: "What memory added",
      lines: (width, theme) =>
        items.flatMap(({ text, source }) => toldLines(oneLine(source), text, width, theme).concat("")),
    });
  }

  #message(text: string): void {
    this.#add(({ theme, width }) => messageLines(text, width, theme), true);
  }

  #answer(): AnswerBlock {
    if (this.#text instanceof AnswerBlock) return this.#text;
    this.#endText();
    const answer = new AnswerBlock();
    if (this.#draft) answer.capture(this.#draft);
    this.#draft = undefined;
    this.#text = answer;
    this.#put(answer);
    return answer;
  }

  #thought(): ThoughtBlock {
    if (this.#text instanceof ThoughtBlock) return this.#text;
    this.#endText();
    const thought = new ThoughtBlock();
    this.#text = thought;
    this.#put(thought);
    this.#page(thought);
    return thought;
  }

  #endText(): void {
    this.#text?.end();
    this.#text = undefined;
  }

  #call(call: Call | undefined): void {
    if (!call) return;
    const known = this.#calls.get(call.id);
    if (known) known.update(call);
    else {
      this.#endText();
      const block = new CallBlock(call);
      this.#calls.set(call.id, block);
      this.#put(block);
      this.#page(block);
    }
  }

  /** Calls that were only streamed, and are not part of the answer as it stands, are gone. */
  #dropCalls(message: string, state: ConversationState): void {
    const answer = state.messages.get(message);
    const asked = new Set(answer?.role === "assistant" ? answer.calls.map(({ id }) => id) : []);
    for (const [id, block] of this.#calls) {
      if (asked.has(id) || state.calls.has(id)) continue;
      block.drop();
      this.#calls.delete(id);
    }
  }

  /** A call that has ended follows the answer: the change is in the code of its text. */
  #drafted(draft: Draft, call: Call | undefined): void {
    if (!call || !isEnded(call.status)) return;
    if (this.#text instanceof AnswerBlock) this.#text.capture(draft);
    else this.#draft = draft;
  }

  #change(change: FileChange): void {
    this.#add((look) => changeLines(change, look), true);
    const head = (theme: Theme) => changeHead(change, theme);
    this.#page({
      title: `Change of ${oneLine(change.path)}`,
      lines: (_width, theme) => [head(theme), ...diffLines(change.diff, { style: theme })],
    });
  }

  #page(page: Page): void {
    this.#pages.push(page);
    if (this.#pages.length > MOST_PAGES) this.#pages = this.#pages.slice(-MOST_PAGES / 2);
  }

  #add(lines: (look: BlockLook) => readonly string[], isApart = false): void {
    this.#put(new TextBlock(lines, isApart));
    this.#changed();
  }

  #put(block: Block): void {
    const command = this.#expected;
    this.forget();
    if (command !== undefined) this.command(command);
    this.#transcript.add(block);
  }
}
