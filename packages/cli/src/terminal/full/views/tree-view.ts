import { messageNumbers } from "@banyan/client/actions";
import type { ConversationState, Message } from "@banyan/core/conversation";
import { counted } from "@banyan/core/shown";
import { gist, messageMarks, speakerOf } from "../../../show/message-label.ts";
import type { KeyAction } from "../keys/actions.ts";
import type { KeyBindings } from "../keys/key-bindings.ts";
import { hintLine, keyHint, listLine, padLines, rule } from "../overlay/drawn-lines.ts";
import { LineInput } from "../overlay/line-input.ts";
import { ListCursor } from "../overlay/list-cursor.ts";
import type { Overlay, OverlayEnd, OverlayView } from "../overlay/overlay.ts";
import { cutToWidth, padToWidth, textWidth } from "../screen/cells.ts";
import type { ScreenSize } from "../screen/live-region.ts";
import type { Theme } from "../theme/theme.ts";
import {
  branchNumbers,
  pathIds,
  rowIndexOf,
  type TreeFilter,
  type TreeRow,
  treeFilters,
  treeRows,
} from "./tree-rows.ts";

/** The content of a tree view, and its actions in addition to the choice of a message. */
export interface TreeOptions {
  readonly state: ConversationState;
  readonly agent: string;
  readonly leaf: string | null;
  readonly selected?: string;
  /** Labels a message; `null` removes the label. */
  onLabel(message: string, label: string | null): void;
  onStar(message: string, starred: boolean): void;
}

/** Actions of printing keys, with their description. Enter performs a marked action. */
const COMMANDS = {
  "tree-search": "search",
  "tree-filter": "filter",
  "tree-label": "name",
  "tree-star": "star",
} as const satisfies Partial<Record<KeyAction, string>>;

type TreeCommand = keyof typeof COMMANDS;
const COMMAND_NAMES = Object.keys(COMMANDS) as readonly TreeCommand[];

type TypedInput = { readonly what: "search" } | { readonly what: "label"; readonly input: LineInput };

const FILTER_WORDS: Readonly<Record<TreeFilter, string>> = {
  all: "all messages",
  own: "own messages",
  calls: "messages with calls",
  starred: "starred and named",
};

/** Minimum columns of a message's text. Marks are left out for it. */
const LEAST_TEXT = 14;

/**
 * A conversation as a tree, in which the user chooses a message (T28). Arrow keys mark a message. Enter chooses it, or
 * performs the action whose key the user pressed before (T64). Nothing in the tree deletes data.
 */
export class TreeView implements Overlay<string> {
  readonly isFull = true;
  readonly #options: TreeOptions;
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #branches: ReadonlyMap<string, number>;
  readonly #path: ReadonlySet<string>;
  readonly #folded = new Set<string>();
  readonly #cursor = new ListCursor();
  readonly #search = new LineInput();
  #filter: TreeFilter = "all";
  /** Current input: a search, or a label for the selected message. */
  #typing: TypedInput | undefined;
  #command: TreeCommand | undefined;
  /** True if Enter chooses the selected message. */
  #isMarked: boolean;
  #rows: readonly TreeRow[] = [];

  constructor(options: TreeOptions) {
    const { state, leaf, selected } = options;
    this.#options = options;
    this.#isMarked = selected !== undefined;
    this.#numbers = messageNumbers(state);
    this.#branches = branchNumbers(state);
    this.#path = pathIds(state, leaf);
    this.#select(selected ?? leaf);
  }

  view({ columns, rows }: ScreenSize, theme: Theme, _isArmed: boolean, keys: KeyBindings): OverlayView {
    const count = theme.dim(counted(this.#rows.length, "message"));
    const head = rule(theme.bold(`Tree: ${FILTER_WORDS[this.#filter]}`), columns, theme, count);
    const foot = this.#foot(columns, theme, keys);
    const room = Math.max(1, rows - 2);
    const list = this.#cursor
      .window(this.#rows, room)
      .map(({ item, isCurrent }) => listLine(this.#line(item, columns - 2, theme), isCurrent, columns, theme));
    const empty = list.length === 0 ? [theme.dim(this.#search.text === "" ? "No message." : "Nothing matches.")] : list;
    const lines = [head, ...padLines(empty, room), foot.line];
    return { lines, ...(foot.column !== undefined && { cursor: { row: lines.length - 1, column: foot.column } }) };
  }

  key(key: string, keys: KeyBindings): OverlayEnd<string> | undefined {
    if (this.#typing) return this.#typed(this.#typing, key, keys);
    if (keys.matches(key, "list-cancel")) {
      if (this.#search.text === "") return {};
      this.#search.text = "";
      this.#select();
    } else if (keys.matches(key, "list-choose")) {
      if (this.#command) this.#perform(this.#command);
      else if (this.#isMarked && this.#current) return { result: this.#current.id };
    } else {
      this.mark(key, keys);
      if (this.#cursor.key(key, keys, this.#rows.length)) this.#isMarked = true;
      else if (keys.matches(key, "list-back")) this.#fold();
      else if (keys.matches(key, "list-open")) this.#unfold();
    }
    return undefined;
  }

  mark(key: string, keys: KeyBindings): boolean {
    this.#command = COMMAND_NAMES.find((name) => keys.matches(key, name));
    return this.#command !== undefined;
  }

  unmark(): void {
    this.#command = undefined;
    this.#isMarked = false;
  }

  get isWriting(): boolean {
    return this.#typing !== undefined;
  }

  #perform(command: TreeCommand): void {
    if (command === "tree-search") this.#typing = { what: "search" };
    else if (command === "tree-label") this.#typing = { what: "label", input: new LineInput(this.#message?.label) };
    else if (command === "tree-filter") this.#nextFilter();
    else if (this.#message) this.#options.onStar(this.#message.id, !this.#message.starred);
    // The filter stays marked: Enter shows the next kind of messages.
    if (command !== "tree-filter") this.#command = undefined;
  }

  get #current(): TreeRow | undefined {
    return this.#rows[this.#cursor.index];
  }

  get #message(): Message | undefined {
    return this.#options.state.messages.get(this.#current?.id ?? "");
  }

  /** Recomputes the rows. The selection stays at its message or its nearest visible ancestor. */
  #select(current = this.#current?.id ?? this.#options.leaf): void {
    const { state } = this.#options;
    this.#rows = treeRows(state, { filter: this.#filter, search: this.#search.text, folded: this.#folded });
    this.#cursor.index = rowIndexOf(this.#rows, state, current);
  }

  #typed(typing: TypedInput, key: string, keys: KeyBindings): undefined {
    if (keys.matches(key, "interrupt") || keys.matches(key, "cancel")) {
      this.#typing = undefined;
      if (typing.what === "search") this.#search.text = "";
      this.#select();
    } else if (keys.matches(key, "list-choose")) {
      this.#typing = undefined;
      this.#isMarked = true;
      if (typing.what !== "label" || !this.#message) return;
      const label = typing.input.text.trim();
      this.#options.onLabel(this.#message.id, label === "" ? null : label);
    } else if (typing.what === "label") typing.input.key(key, keys);
    else if (this.#search.key(key, keys)) this.#select();
  }

  /** Folds the replies to the selected message. Without unfolded replies, selects its parent. */
  #fold(): void {
    const row = this.#current;
    if (!row) return;
    const { state } = this.#options;
    const hasBelow = (state.children.get(row.id)?.length ?? 0) > 0;
    if (hasBelow && !this.#folded.has(row.id)) this.#folded.add(row.id);
    else this.#cursor.index = rowIndexOf(this.#rows, state, this.#message?.parentId ?? null);
    this.#select();
  }

  #unfold(): void {
    const row = this.#current;
    if (row && this.#folded.delete(row.id)) this.#select();
  }

  #nextFilter(): void {
    this.#filter = treeFilters[(treeFilters.indexOf(this.#filter) + 1) % treeFilters.length] ?? "all";
    this.#select();
  }

  #foot(columns: number, theme: Theme, keys: KeyBindings): { readonly line: string; readonly column?: number } {
    if (this.#typing) {
      const label = this.#typing.what === "search" ? "search: " : "name: ";
      const text = this.#typing.what === "search" ? this.#search.text : this.#typing.input.text;
      return {
        line: cutToWidth(theme.bold(label) + text, columns),
        column: Math.min(columns - 1, textWidth(label + text)),
      };
    }
    if (this.#command) {
      const hint = `${keyHint(keys, this.#command, COMMANDS[this.#command])} · ${keyHint(keys, "list-choose", "does this")}`;
      return { line: theme.warning(cutToWidth(hint, columns)) };
    }
    const hints = [
      this.#search.text === "" ? "" : `“${this.#search.text}”`,
      this.#isMarked ? keyHint(keys, "list-choose", "goes there") : keyHint(keys, ["list-up", "list-down"], "choose"),
      keyHint(keys, "list-cancel", this.#search.text === "" ? "goes back" : "shows all"),
      ...COMMAND_NAMES.map((name) => keyHint(keys, name, COMMANDS[name])),
      keyHint(keys, ["list-back", "list-open"], "fold"),
    ];
    return { line: theme.dim(hintLine(hints, columns)) };
  }

  #line({ id, depth, isFirst, folded }: TreeRow, width: number, theme: Theme): string {
    const { agent, leaf, state } = this.#options;
    const message = state.messages.get(id);
    if (!message) return "";
    const indent = "  ".repeat(Math.min(12, Math.max(0, depth - 1))) + (depth === 0 ? "" : isFirst ? "├ " : "│ ");
    const number = padToWidth(`#${this.#numbers.get(message.id)}`, 5);
    const isHere = message.id === leaf;
    const speaker = padToWidth(speakerOf(message, agent), agent.length);
    const branch = this.#branches.get(message.id);
    const marks = [
      ...messageMarks(message, branch),
      folded > 0 ? `+ ${counted(folded, "message")}` : "",
      isHere ? "← here" : "",
    ].filter((mark) => mark !== "");
    const roomBeside = () => width - textWidth([indent + number + speaker, "", ...marks].join("  ")) - 1;
    // On a narrow screen, text and the user's place come before other marks.
    const least = textWidth(gist(message, LEAST_TEXT));
    while (marks.length > (isHere ? 1 : 0) && roomBeside() < least) marks.shift();
    const end = marks.map((mark) => `  ${mark}`).join("");
    const room = Math.max(LEAST_TEXT, roomBeside());
    const text = cutToWidth(gist(message, room), room);
    const shown = this.#path.has(message.id) ? text : theme.dim(text);
    const begin = `${theme.dim(indent + number)} ${theme.accent(speaker)}  `;
    return cutToWidth(`${begin}${shown}${isHere ? theme.bold(end) : theme.dim(end)}`, width);
  }
}
