import {
  type DisplayItem,
  displayItem,
  displaySentence,
  GIVEN_UP,
  GIVEN_UP_TOO,
  type NoticeDisplay,
} from "@banyan/client/display";
import { compactedLine, describeShortfall } from "@banyan/client/words";
import {
  type Call,
  type ChangeDraft,
  type ConversationState,
  callIn,
  describeUnreadable,
  endReason,
  type FeedItem,
  type FileChange,
  isEnded,
  type RecalledMemory,
  textOf,
  typedText,
  type UserMessage,
} from "@banyan/core/conversation";
import { attachedLine, attachmentsOfMessage } from "../../../show/attachment-lines.ts";
import { problemLines } from "../../../show/call-line.ts";
import { changeHead, diffLines } from "../../../show/diff-lines.ts";
import { recalledLine } from "../../../show/memory-lines.ts";
import { modelNotice, ReportedEnds, shortenedLine, undoneLine } from "../../../show/message-label.ts";
import { plainLine } from "../../../show/plain-text.ts";
import { subAgentNotice } from "../../../show/sub-agents.ts";
import { runEndSentence, turnFacts } from "../../../show/turn-end.ts";
import type { FeedView } from "../../questions/feed-view.ts";
import { cutOutputLines, fileChangeLines } from "../overlay/call-view.ts";
import type { ViewerPage } from "../overlay/overlay.ts";
import { wrapCells } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";
import { ActivityTracker, type CurrentActivity } from "./activity.ts";
import { AnswerBlock } from "./answer-block.ts";
import { type BlockAuthor, type BlockLines, type BlockLook, TextBlock, type TranscriptBlock } from "./block.ts";
import { BlockPages } from "./block-pages.ts";
import { CallBlock } from "./call-block.ts";
import { messageLines, modelNoticeBlock } from "./message-lines.ts";
import { ThoughtBlock } from "./thought-block.ts";
import { Transcript } from "./transcript.ts";

/**
 * Shows a feed as blocks: streaming answers, calls until their end, and messages of the program. Finished blocks go to
 * the scrollback, and unfinished blocks are redrawn. Shows only the calls of sub-agents.
 */
export class LiveView implements FeedView {
  readonly #changed: () => void;
  readonly #transcript = new Transcript();
  readonly #activities = new ActivityTracker();
  readonly #toldEnds = new ReportedEnds();
  readonly #calls = new Map<string, CallBlock>();
  readonly #pages = new BlockPages();
  /** The last reason for a retry that was shown. */
  #hitch: string | undefined;
  /** True if a response of this turn was abandoned, and the user told. */
  #gaveUp = false;
  #text: AnswerBlock | ThoughtBlock | undefined;
  /** A command without output so far. */
  #expected: string | undefined;
  #draft: ChangeDraft | undefined;
  /** Start of the turn, in milliseconds since 1970. */
  #began: number | undefined;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get isBusy(): boolean {
    return this.#activities.isBusy;
  }

  /** The agent's current work; undefined at rest. */
  get doing(): CurrentActivity | undefined {
    return this.#activities.doing;
  }

  /** Pages of cut or folded text, newest last. */
  get pages(): readonly ViewerPage[] {
    return this.#pages.all;
  }

  stopping(): void {
    this.#activities.stop();
    this.#changed();
  }

  /** The state was replaced: ends whatever it does not contain. */
  follow(state: ConversationState | undefined): void {
    if (!this.#activities.follow(state)) return;
    this.#endText();
    for (const [id, block] of this.#calls) {
      const call = state && callIn(state, { call: id });
      if (call) block.update(call);
    }
    this.#changed();
  }

  connected(isConnected: boolean, state: ConversationState): void {
    this.#activities.connected(isConnected, state);
    this.#changed();
  }

  /** Lines finished since the last call, and open lines. */
  lines(look: BlockLook): BlockLines {
    return this.#transcript.show(look);
  }

  show(item: FeedItem, state: ConversationState): void {
    const display = displayItem(item);
    const isSubAgent = this.#activities.note(item, state, display);
    if (!isSubAgent && display) this.#show(display, item, state);
    else if (isSubAgent && item.type !== "model.waiting") this.#tell(subAgentNotice(item, state));
    this.#changed();
  }

  say(sentence: string): void {
    this.#add(({ width }) => wrapCells(sentence, width));
  }

  note(sentence: string): void {
    this.#add(({ width, theme }) => wrapCells(theme.dim(sentence), width));
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
    // Blocks separate themselves; other lines belong to the command above them.
  }

  command(line: string): void {
    this.#message(line);
  }

  /** Shows a command before its first output. */
  expect(line: string): void {
    this.#expected = line;
  }

  forget(): void {
    this.#expected = undefined;
  }

  #show(display: DisplayItem, item: FeedItem, state: ConversationState): void {
    switch (display.type) {
      case "message-start":
        this.#endText();
        break;
      case "text":
        (display.kind === "text" ? this.#answer() : this.#thought()).push(display.text);
        break;
      case "message-end": {
        this.#endText();
        this.#dropCalls(display.message, state);
        const shortfall = describeShortfall(state.messages.get(display.message));
        if (shortfall !== undefined) this.note(plainLine(shortfall));
        break;
      }
      case "message-discard":
        if (this.#text instanceof AnswerBlock && this.#text.hasBegun) {
          this.note(this.#gaveUp ? GIVEN_UP_TOO : GIVEN_UP);
          this.#gaveUp = true;
        }
        this.#endText();
        this.#dropCalls(display.message, state);
        break;
      case "message":
        this.#added(display.message, state);
        break;
      case "memory":
        this.#recalled(display.items);
        break;
      case "call-input":
      case "call":
        this.#call(callIn(state, display));
        break;
      case "call-end":
        this.#call(callIn(state, display));
        // The state may be ahead of the feed, so only this item ends the block.
        this.#calls.delete(display.call);
        break;
      case "question":
      case "answer":
        this.#question(display, state);
        break;
      case "call-draft":
        this.#drafted({ ...display, index: display.draft, text: "" }, callIn(state, display));
        break;
      case "file-change":
        // A change is below its call while the call runs; a later change has its own block.
        if (!this.#calls.has(display.call)) this.#change(display.change);
        break;
      case "run-end":
        this.#hitch = undefined;
        this.#gaveUp = false;
        this.#endText();
        if (item.type === "run.ended") for (const facts of turnFacts(item, state, this.#began)) this.note(facts);
        this.#add(({ theme, width }) => {
          const sentence = runEndSentence(display.reason, endReason(display), theme, display.error?.code);
          return sentence === undefined ? [] : wrapCells(sentence, width);
        });
        break;
      case "goal":
      case "process":
        this.#toldEnds.note(item);
        this.#tell(display.text);
        break;
      case "notice":
        this.#notice(display);
        break;
      case "run-start":
        if (display.continues === undefined) this.#began = item.type === "run.started" ? item.at : undefined;
        break;
      // The status line shows the work, and the call's block shows the end of its output.
      case "delivery":
      case "call-output":
        break;
      default:
        display satisfies never;
    }
  }

  /** A question about a call or for a text has a card; a limit is a sentence. */
  #question(display: Extract<DisplayItem, { readonly type: "question" | "answer" }>, state: ConversationState): void {
    if (display.about === "call") return this.#call(callIn(state, display));
    if (display.about === "limit") return this.#tell(displaySentence(display));
    if (display.type === "question") this.#calls.get(display.call)?.asks(display.question);
    else for (const block of this.#calls.values()) block.answered(display.question);
  }

  #notice({ notice, text }: NoticeDisplay): void {
    // The status line counts the time of a wait.
    if (notice.type === "model.waiting") return;
    if (notice.type !== "model.retrying") return this.#tell(text);
    // The status line counts down, and the reason appears here once.
    if (notice.reason !== this.#hitch) this.note(plainLine(notice.reason));
    this.#hitch = notice.reason;
  }

  #tell(text: string | undefined): void {
    if (text !== undefined) this.note(text);
  }

  #added(id: string, state: ConversationState): void {
    const message = state.messages.get(id);
    const unreadable = describeUnreadable(message);
    if (unreadable !== undefined) return this.note(plainLine(unreadable));
    const shortened = shortenedLine(message);
    if (shortened !== undefined) return this.note(shortened);
    if (message?.role === "summary" && message.compaction) {
      const line = compactedLine(message.compaction);
      const text = textOf(message);
      return this.#add(({ width, theme }) => wrapCells(theme.dim(line), width), {
        page: { title: "The summary", lines: (width, theme) => modelNoticeBlock("summary", text, width, theme) },
      });
    }
    if (message?.role !== "user") return;
    if (message.author === "user") {
      this.#message(typedText(message));
      for (const line of attachedLine(attachmentsOfMessage(message.parts))) this.note(line);
      return;
    }
    const undone = undoneLine(message);
    if (undone !== undefined) this.note(undone);
    else if (!this.#toldEnds.has(message)) this.#modelNotice(message);
  }

  /** Text from a tool or the system to the model, such as the reason for a denial. The user reads it too. */
  #modelNotice(message: UserMessage): void {
    const { text, problems } = modelNotice(message);
    if (problems.length > 0) this.#add(({ width, theme }) => problemLines(problems, theme, width));
    if (text === "") return;
    const lines = (width: number, theme: Theme) => modelNoticeBlock(message.author, text, width, theme);
    this.#add(({ width, theme, openKey }) => cutOutputLines(lines(width, theme), theme, openKey), {
      page: { title: "Sent to the model", lines },
    });
  }

  #recalled(items: readonly RecalledMemory[]): void {
    const page: ViewerPage = {
      title: "What memory added",
      lines: (width, theme) =>
        items.flatMap(({ text, source }) => modelNoticeBlock(plainLine(source), text, width, theme).concat("")),
    };
    const lines = ({ width, theme, openKey = "/memory" }: BlockLook) =>
      wrapCells(theme.dim(recalledLine(items, openKey)), width);
    this.#add(lines, { page });
  }

  #message(text: string): void {
    this.#add(({ theme, width }) => messageLines(text, width, theme), { author: "user" });
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
    this.#put(thought, thought);
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
      this.#put(block, block);
    }
  }

  /** Removes streamed calls that the response does not contain. */
  #dropCalls(message: string, state: ConversationState): void {
    const answer = state.messages.get(message);
    const calls = new Set(answer?.role === "assistant" ? answer.calls.map(({ id }) => id) : []);
    for (const [id, block] of this.#calls) {
      if (calls.has(id) || state.calls.has(id)) continue;
      block.drop();
      this.#calls.delete(id);
    }
  }

  /** Drafts of an ended call follow in the answer: the code in its text is the change. */
  #drafted(draft: ChangeDraft, call: Call | undefined): void {
    if (!call || !isEnded(call.status)) return;
    if (this.#text instanceof AnswerBlock) this.#text.capture(draft);
    else this.#draft = draft;
  }

  #change(change: FileChange): void {
    const page: ViewerPage = {
      title: `Change of ${plainLine(change.path)}`,
      lines: (_width, theme) => [changeHead(change, theme), ...diffLines(change.diff, { style: theme })],
    };
    this.#add((look) => fileChangeLines(change, look), { author: "agent", page });
  }

  #add(
    lines: (look: BlockLook) => readonly string[],
    { author, page }: { readonly author?: BlockAuthor; readonly page?: ViewerPage } = {},
  ): void {
    this.#put(new TextBlock(lines, author), page);
    this.#changed();
  }

  #put(block: TranscriptBlock, page?: ViewerPage): void {
    const command = this.#expected;
    this.forget();
    if (command !== undefined) this.command(command);
    this.#transcript.add(block);
    this.#pages.add(block, page);
  }
}
