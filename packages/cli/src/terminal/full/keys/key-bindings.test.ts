import { describe, expect, test } from "vitest";
import { actions, type KeyContext } from "./actions.ts";
import { KeyBindings, keyNamed } from "./key-bindings.ts";

const CTRL_R = "\x12";
const CTRL_L = "\x0c";
const ALT_ENTER = "\x1b\r";

describe("T13: keys", () => {
  test("default keys are as listed, and no key has two meanings in one context", () => {
    const keys = new KeyBindings();
    expect(keys.problems).toEqual([]);
    expect(keys.matches(CTRL_R, "history-search")).toBe(true);
    expect(keys.matches(ALT_ENTER, "send-later")).toBe(true);
    for (const context of ["prompt", "empty", "list", "tree", "page"] satisfies KeyContext[]) {
      const here = Object.values(actions).filter(({ contexts }) =>
        (contexts as readonly KeyContext[]).includes(context),
      );
      const all = here.flatMap((action) => action.keys as readonly string[]);
      expect(all.toSorted()).toEqual([...new Set(all)].toSorted());
      expect(all.filter((key) => keyNamed(key) !== key)).toEqual([]);
    }
  });

  test("can be changed, one or several for an action, and taken away", () => {
    const keys = new KeyBindings({ redraw: ["F5", "Ctrl+Alt+L"], agents: [] });
    expect(keys.problems).toEqual([]);
    expect(keys.matches("\x1b[15~", "redraw")).toBe(true);
    expect(keys.matches(CTRL_L, "redraw")).toBe(false);
    expect(keys.hint("agents")).toBeUndefined();
    expect(keys.table.find(({ action }) => action === "redraw")).toEqual({
      action: "redraw",
      keys: ["F5", "Ctrl+Alt+L"],
      help: "draws on an empty screen; nothing is deleted",
      context: "prompt",
      isSet: true,
    });
  });

  test("a key in the settings is taken from its default action, with a notice", () => {
    const keys = new KeyBindings({ redraw: "ctrl+r" });
    expect(keys.problems).toEqual(["keys: Ctrl-R cannot be both 'redraw' and 'history-search'; it is 'redraw' now."]);
    expect(keys.matches(CTRL_R, "redraw")).toBe(true);
    expect(keys.matches(CTRL_R, "history-search")).toBe(false);
  });

  test("a key that is set twice keeps its first action", () => {
    const keys = new KeyBindings({ redraw: "f5", agents: ["f5", "f6"] });
    expect(keys.problems).toEqual(["keys: F5 cannot be both 'redraw' and 'agents'; it is 'redraw' now."]);
    expect(keys.hint("agents")).toBe("F6");
  });

  test("may be the same in different places", () => {
    expect(new KeyBindings({ "tree-label": "ctrl+w" }).problems).toEqual([]);
  });

  test("unknown keys and actions change nothing, with a notice", () => {
    const keys = new KeyBindings({ redrew: "f5", redraw: "hyper+x" });
    expect(keys.problems).toEqual([
      "keys: there is no 'redrew'; did you mean 'redraw'? /keys lists the names.",
      "keys.redraw: there is no key 'hyper+x'; write it as in 'ctrl+r', 'alt+enter' or 'f5'.",
    ]);
    expect(keys.matches(CTRL_L, "redraw")).toBe(true);
  });

  test("the editor's keys follow the same rules", () => {
    const keys = new KeyBindings({ "delete-word-back": "ctrl+l", redraw: [] });
    expect(keys.editor.matches(CTRL_L, "tui.editor.deleteWordBackward")).toBe(true);
  });
});

test.each([
  ["Ctrl+R", "ctrl+r"],
  ["shift+ctrl+p", "ctrl+shift+p"],
  ["Esc", "escape"],
  ["pageup", "pageUp"],
  ["ctrl++", undefined],
  ["ctrl+-", "ctrl+-"],
  ["?", "?"],
  ["", undefined],
  ["ctrl+", undefined],
  ["ctrl", undefined],
  ["strg+r", undefined],
])("T13: the key %j is %s", (text, name) => {
  expect(keyNamed(text)).toBe(name);
});
