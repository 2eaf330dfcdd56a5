import { nearest } from "@banyan/core/shown";
import { KeybindingsManager, TUI_KEYBINDINGS } from "@earendil-works/pi-tui/dist/keybindings.js";
import { type KeyId, matchesKey } from "@earendil-works/pi-tui/dist/keys.js";
import { actionNames, actions, type KeyAction, type KeyContext } from "./actions.ts";

/** Keys by action, from the settings: one key, several, or none with an empty list. */
export type KeySettings = Readonly<Record<string, string | readonly string[]>>;

export interface KeyRow {
  readonly action: KeyAction;
  readonly keys: readonly string[];
  readonly help: string;
  readonly context: KeyContext;
  readonly isSet: boolean;
}

/**
 * Key bindings (T13). A key that the settings give to one action is removed from all other actions of the same context.
 */
export class KeyBindings {
  readonly #keys: ReadonlyMap<KeyAction, readonly KeyId[]>;
  readonly #set: ReadonlySet<string>;
  readonly problems: readonly string[];
  /** The bindings in the editor's format. */
  readonly editor: KeybindingsManager;

  constructor(settings: KeySettings = {}) {
    const problems: string[] = [];
    const set = readSettings(settings, problems);
    const keys = new Map(
      actionNames.map((action) => [action, set.get(action) ?? actions[action].keys.map((key) => key as KeyId)]),
    );
    settleConflicts(keys, set, problems);
    this.#keys = keys;
    this.#set = new Set(set.keys());
    this.problems = problems;
    this.editor = new KeybindingsManager(
      TUI_KEYBINDINGS,
      Object.fromEntries(
        Object.entries(EDITOR_ACTIONS).map(([id, names]) => [id, names.flatMap((name) => this.#of(name))]),
      ),
    );
  }

  /** Returns whether a key sequence from the terminal belongs to an action. */
  matches(key: string, action: KeyAction): boolean {
    return this.#of(action).some((name) => matchesKey(key, name));
  }

  /** Display name of the action's first key, such as `Ctrl-O`; undefined without a key. */
  hint(action: KeyAction): string | undefined {
    const [first] = this.#of(action);
    return first === undefined ? undefined : keyLabel(first);
  }

  get table(): readonly KeyRow[] {
    return actionNames.map((action) => ({
      action,
      keys: this.#of(action).map(keyLabel),
      help: actions[action].help,
      context: actions[action].contexts[0] ?? "prompt",
      isSet: this.#set.has(action),
    }));
  }

  #of(action: KeyAction): KeyId[] {
    return [...(this.#keys.get(action) ?? [])];
  }
}

function readSettings(settings: KeySettings, problems: string[]): Map<KeyAction, readonly KeyId[]> {
  const set = new Map<KeyAction, readonly KeyId[]>();
  for (const [action, value] of Object.entries(settings)) {
    if (!isAction(action)) {
      const [near] = nearest(action, actionNames);
      const advice = near === undefined ? "/keys lists what keys do" : `did you mean '${near}'? /keys lists the names`;
      problems.push(`keys: there is no '${action}'; ${advice}.`);
      continue;
    }
    const names = typeof value === "string" ? [value] : value;
    const unknown = names.filter((name) => keyNamed(name) === undefined);
    for (const name of unknown)
      problems.push(`keys.${action}: there is no key '${name}'; write it as in 'ctrl+r', 'alt+enter' or 'f5'.`);
    if (unknown.length === 0)
      set.set(
        action,
        names.map(keyNamed).filter((key) => key !== undefined),
      );
  }
  return set;
}

/** If two actions of a context have the same key, the user's setting wins; of two settings, the first. */
function settleConflicts(
  keys: Map<KeyAction, readonly KeyId[]>,
  set: ReadonlyMap<KeyAction, readonly KeyId[]>,
  problems: string[],
): void {
  for (const [owner, own] of set) {
    for (const [other, theirs] of keys) {
      if (other === owner || !isSharedPlace(owner, other)) continue;
      const lost = theirs.filter((key) => own.includes(key) && !(set.has(other) && isBefore(other, owner)));
      if (lost.length === 0) continue;
      keys.set(
        other,
        theirs.filter((key) => !lost.includes(key)),
      );
      const names = lost.map(keyLabel).join(" and ");
      problems.push(`keys: ${names} cannot be both '${owner}' and '${other}'; it is '${owner}' now.`);
    }
  }

  function isBefore(one: KeyAction, other: KeyAction): boolean {
    const order = [...set.keys()];
    return order.indexOf(one) < order.indexOf(other);
  }
}

function isSharedPlace(one: KeyAction, other: KeyAction): boolean {
  return actions[one].contexts.some((context) => (actions[other].contexts as readonly string[]).includes(context));
}

function isAction(name: string): name is KeyAction {
  return Object.hasOwn(actions, name);
}

/** Display name of a key: `Ctrl-P`, but `Ctrl+Left`, `Alt+P` and `p`. */
function keyLabel(key: string): string {
  if (key.length === 1) return key;
  const parts = key.endsWith("+") ? [...key.slice(0, -1).split("+").filter(Boolean), "+"] : key.split("+");
  const isPlain = /^ctrl\+[a-z\d]$/.test(key);
  return parts.map((part) => SHORT[part] ?? part.charAt(0).toUpperCase() + part.slice(1)).join(isPlain ? "-" : "+");
}

const SHORT: Readonly<Record<string, string>> = { escape: "Esc", pageUp: "PgUp", pageDown: "PgDn" };

/** The editor's names for actions that the editor performs itself. */
const EDITOR_ACTIONS: Readonly<Partial<Record<keyof typeof TUI_KEYBINDINGS, readonly KeyAction[]>>> = {
  "tui.editor.cursorUp": ["cursor-up"],
  "tui.editor.cursorDown": ["cursor-down"],
  "tui.editor.historyPrevious": ["history-back"],
  "tui.editor.historyNext": ["history-forward"],
  "tui.editor.cursorLeft": ["cursor-left"],
  "tui.editor.cursorRight": ["cursor-right"],
  "tui.editor.cursorWordLeft": ["word-left"],
  "tui.editor.cursorWordRight": ["word-right"],
  "tui.editor.cursorLineStart": ["line-start"],
  "tui.editor.cursorLineEnd": ["line-end"],
  "tui.editor.jumpForward": ["jump-forward"],
  "tui.editor.jumpBackward": ["jump-back"],
  "tui.editor.pageUp": ["page-up"],
  "tui.editor.pageDown": ["page-down"],
  "tui.editor.deleteCharBackward": ["delete-back"],
  "tui.editor.deleteCharForward": ["delete-forward"],
  "tui.editor.deleteWordBackward": ["delete-word-back"],
  "tui.editor.deleteWordForward": ["delete-word-forward"],
  "tui.editor.deleteToLineStart": ["delete-to-start"],
  "tui.editor.deleteToLineEnd": ["delete-to-end"],
  "tui.editor.yank": ["put-back"],
  "tui.editor.yankPop": ["put-back-older"],
  "tui.editor.undo": ["undo"],
  "tui.input.newLine": ["line-break"],
  "tui.input.submit": ["send"],
  "tui.input.tab": ["complete"],
  "tui.input.copy": ["cancel"],
  "tui.select.up": ["list-up"],
  "tui.select.down": ["list-down"],
  "tui.select.confirm": ["list-choose"],
  "tui.select.cancel": ["interrupt"],
};

const MODIFIERS = ["ctrl", "shift", "alt", "super"];

const NAMED = new Map(
  [
    ..."escape enter tab space backspace delete insert home end pageUp pageDown up down left right".split(" "),
    ...Array.from({ length: 12 }, (_, index) => `f${index + 1}`),
  ].map((name) => [name.toLowerCase(), name]),
);

const OTHER_NAMES: Readonly<Record<string, string>> = { esc: "escape", return: "enter", del: "delete" };

/** Parses a key as users write it (`Ctrl+Shift+P`, `alt+enter`, `?`). Undefined for an unknown key. */
export function keyNamed(text: string): KeyId | undefined {
  const [, front = "", base = ""] = /^((?:(?:ctrl|shift|alt|super)\+)*)(\S+)$/.exec(text.trim().toLowerCase()) ?? [];
  const modifiers = front.split("+");
  const key = NAMED.get(OTHER_NAMES[base] ?? base) ?? (/^[!-*,-~]$/.test(base) ? base : undefined);
  if (key === undefined) return undefined;
  const ordered = MODIFIERS.filter((modifier) => modifiers.includes(modifier));
  return [...ordered, key].join("+") as KeyId;
}
