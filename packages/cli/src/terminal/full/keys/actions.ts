/**
 * The context of a key binding. Within one context, a key has only one action. `empty`: an empty prompt. `page`: an
 * opened text.
 */
export type KeyContext = "prompt" | "empty" | "list" | "tree" | "page";

export interface ActionKeys {
  readonly keys: readonly string[];
  readonly help: string;
  readonly contexts: readonly KeyContext[];
}

const prompt = (keys: readonly string[], help: string): ActionKeys => ({ keys, help, contexts: ["prompt"] });
const list = (keys: readonly string[], help: string): ActionKeys => ({
  keys,
  help,
  contexts: ["list", "tree", "page"],
});
const page = (keys: readonly string[], help: string): ActionKeys => ({ keys, help, contexts: ["page"] });
const tree = (keys: readonly string[], help: string): ActionKeys => ({ keys, help, contexts: ["tree"] });

/** All actions by their name in the `keys` setting (T13), with their default keys. */
export const actions = {
  send: prompt(["enter"], "sends; while the agent works, before its next step"),
  "send-later": prompt(["alt+enter"], "sends after the agent's turn; starts a new line while nothing runs"),
  "line-break": prompt(["shift+enter", "ctrl+j"], "starts a new line, as \\ before Enter does"),
  complete: prompt(["tab"], "completes your text"),
  interrupt: prompt(["escape"], "stops the agent and keeps your text; twice on an empty prompt: the tree"),
  cancel: prompt(["ctrl+c"], "stops the agent, or clears your text; twice on an empty prompt: leaves"),
  exit: { keys: ["ctrl+d"], help: "leaves", contexts: ["empty"] },
  "show-keys": { keys: ["?"], help: "shows all keys", contexts: ["empty"] },
  "approval-mode": prompt(["shift+tab"], "changes the approval mode"),
  "open-output": prompt(["ctrl+o"], "shows the last call or thought in full; again, the previous page"),
  agents: prompt(["alt+a"], "lists the sub-agents"),
  "take-back": prompt(["alt+up"], "takes back waiting messages, the last one first"),
  "external-editor": prompt(["ctrl+g"], "opens your text in $VISUAL or $EDITOR"),
  "paste-picture": prompt(["ctrl+v", "alt+v"], "attaches the picture in your clipboard"),
  "history-search": prompt(["ctrl+r"], "searches your earlier messages"),
  "expand-paste": prompt(["alt+e"], "shows a long paste in full, to edit it"),
  redraw: prompt(["ctrl+l"], "draws on an empty screen; nothing is deleted"),
  suspend: prompt(["ctrl+z"], "suspends Banyan; fg resumes it"),
  "cursor-up": prompt(["up"], "up a line; in the first line, the message before"),
  "cursor-down": prompt(["down"], "down a line; in the last line, the message after"),
  "history-back": prompt(["ctrl+p"], "the message before"),
  "history-forward": prompt(["ctrl+n"], "the message after"),
  "cursor-left": prompt(["left", "ctrl+b"], "a character to the left"),
  "cursor-right": prompt(["right", "ctrl+f"], "a character to the right"),
  "word-left": prompt(["alt+left", "ctrl+left", "alt+b"], "a word to the left"),
  "word-right": prompt(["alt+right", "ctrl+right", "alt+f"], "a word to the right"),
  "line-start": prompt(["home", "ctrl+a"], "to the beginning of the line"),
  "line-end": prompt(["end", "ctrl+e"], "to the end of the line"),
  "page-up": prompt(["pageUp"], "a page up, in a long text"),
  "page-down": prompt(["pageDown"], "a page down"),
  "jump-forward": prompt(["ctrl+]"], "to the next place of a character that you type"),
  "jump-back": prompt(["ctrl+alt+]"], "to the previous place of a character"),
  "delete-back": prompt(["backspace"], "deletes the character before the cursor"),
  "delete-forward": prompt(["delete", "ctrl+d"], "deletes the character under the cursor"),
  "delete-word-back": prompt(["ctrl+w", "alt+backspace"], "deletes the word before the cursor"),
  "delete-word-forward": prompt(["alt+d", "alt+delete"], "deletes the word after the cursor"),
  "delete-to-start": prompt(["ctrl+u"], "deletes to the beginning of the line"),
  "delete-to-end": prompt(["ctrl+k"], "deletes to the end of the line"),
  "put-back": prompt(["ctrl+y"], "pastes the text deleted last"),
  "put-back-older": prompt(["alt+y"], "replaces the pasted text with the text deleted before"),
  undo: prompt(["ctrl+-"], "undoes"),
  "list-up": list(["up", "ctrl+p"], "up a line"),
  "list-down": list(["down", "ctrl+n"], "down a line"),
  "list-page-up": list(["pageUp"], "a page up"),
  "list-page-down": list(["pageDown"], "a page down"),
  "list-first": list(["home"], "to the beginning"),
  "list-last": list(["end"], "to the end"),
  "list-choose": list(["enter"], "chooses"),
  "list-back": list(["left"], "folds; closes an opened page"),
  "list-open": list(["right"], "unfolds, opens"),
  "list-cancel": list(["escape", "ctrl+c"], "goes back without a choice"),
  "tree-search": tree(["/"], "searches"),
  "tree-filter": tree(["f"], "shows your messages, calls, starred messages, or all"),
  "tree-label": tree(["l"], "names a message"),
  "tree-star": tree(["s"], "stars a message"),
  "page-on": page(["space"], "a page down"),
  "page-close": page(["q"], "goes back"),
  "page-search": page(["/"], "searches"),
  "page-next": page(["n"], "to the next match"),
  "page-previous": page(["shift+n"], "to the previous match"),
} as const satisfies Readonly<Record<string, ActionKeys>>;

export type KeyAction = keyof typeof actions;

export const actionNames = Object.keys(actions) as readonly KeyAction[];
