import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "rolldown/utils";
import { expect, it } from "vitest";
import { isOfInputMethod } from "./keys.ts";

const src = fileURLToPath(new URL("../..", import.meta.url));
const files = globSync("**/*.{ts,tsx}", { cwd: src })
  .filter((file) => !/\.(test|fixture)\.tsx?$|^testing\//.test(file))
  .map((file) => file.replaceAll("\\", "/"))
  .sort();
const textOf = (file: string) => readFileSync(join(src, file), "utf8");

/** A listener on an element of the page, such as `textarea onChange`. */
interface Listener {
  readonly file: string;
  readonly element: string;
  readonly event: string;
}

/** Components that pass their listeners to a browser element. */
const FIELDS: Readonly<Record<string, string>> = { TextField: "input", TextArea: "textarea", Select: "select" };

function listenersIn(file: string): readonly Listener[] {
  const found: Listener[] = [];
  const { program } = parseSync(file, textOf(file));
  new Visitor({
    JSXOpeningElement({ name, attributes }) {
      if (name.type !== "JSXIdentifier") return;
      const element = FIELDS[name.name] ?? name.name;
      if (!/^[a-z]/.test(element)) return;
      for (const attribute of attributes) {
        if (attribute.type !== "JSXAttribute" || attribute.name.type !== "JSXIdentifier") continue;
        if (/^on[A-Z]/.test(attribute.name.name)) found.push({ file, element, event: attribute.name.name });
      }
    },
  }).visit(program);
  return found;
}

const listeners = files.filter((file) => file.endsWith(".tsx")).flatMap(listenersIn);

/** Events that Preact passes on unchanged, like React. */
const SAME =
  /^on(Click|KeyDown|Submit|Scroll|Toggle|Paste|Drop|Drag(Over|Leave)|Pointer(Down|Move|Up|Enter|Leave)|Load|Error)$/;

/** Events that Preact replaces by another browser event, with their elements. */
const TRANSLATED: Readonly<Record<string, RegExp>> = {
  // Becomes `input`, for each letter; a chosen file, a checkbox and an option send `change` themselves.
  onChange: /^(input|textarea|select)$/,
  // Become `focusin` and `focusout`, which bubble.
  onFocus: /./,
  onBlur: /./,
};

it("W85: no listener relies on an event that React makes and Preact does not; those that Preact translates are listed", () => {
  const isTranslated = ({ element, event }: Listener) => TRANSLATED[event]?.test(element) ?? false;
  expect(listeners.length).toBeGreaterThan(100);
  expect(listeners.filter((each) => !SAME.test(each.event) && !isTranslated(each))).toEqual([]);
  const translated = listeners.filter(isTranslated).filter(({ event }) => event !== "onChange");
  expect(translated.map(({ file, element, event }) => `${file} ${element} ${event}`).sort()).toEqual([
    "app/conversation/share-panel.tsx input onFocus",
    "app/conversations/conversation-entry.tsx input onBlur",
    "panels/tree/outline.tsx div onFocus",
    "transcript/message-article.tsx article onFocus",
  ]);
});

it("W94: every handler of keys is behind the one condition: a listener of the window, before all others, and none decides for itself", () => {
  const handlers = listeners.filter(({ event }) => event.startsWith("onKey")).map(({ file }) => file);
  const added = files.filter((file) => /addEventListener\(\s*"key(down|up|press)"/.test(textOf(file)));
  expect([...new Set([...handlers, ...added])].sort()).toEqual([
    "app/conversations/conversation-entry.tsx",
    "app/palette/command-keys.tsx",
    "composer/completion.tsx",
    "composer/message-box.tsx",
    "composer/model-choice.tsx",
    "composer/prompt-form.tsx",
    "composer/waiting-list.tsx",
    "panels/tree/outline.tsx",
    "panels/tree/row-actions.tsx",
    "panels/tree/tree-tools.tsx",
    "parts/browser/keys.ts",
    "parts/design/disclosure.tsx",
    "parts/design/field.tsx",
    "transcript/approval.tsx",
    "transcript/attachment-list.tsx",
    "transcript/inline-form.tsx",
    "transcript/tab-stops.ts",
    "transcript/transcript.tsx",
  ]);
  const deciding = files.filter((file) => /isComposing|keyCode/.test(textOf(file)));
  expect(deciding).toEqual(["parts/browser/keys.ts"]);
  expect(textOf("app/main.tsx")).toContain("leaveToInputMethods(window);");
});

it.each([
  [{ isComposing: true, keyCode: 13 }, true],
  [{ isComposing: false, keyCode: 229 }, true],
  [{ isComposing: true, keyCode: 229 }, true],
  [{ isComposing: false, keyCode: 13 }, false],
])("W94, K8: a key that composes, or has the code 229, belongs to an input method: %o", (key, expected) => {
  expect(isOfInputMethod(key as KeyboardEvent)).toBe(expected);
});
