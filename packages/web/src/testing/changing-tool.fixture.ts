import { defineTool } from "@banyan/core";

/** The lines of the longest diff that a page must show (W31). */
const MANY_LINES = 50_000;

const DIFF = `--- a/file
+++ b/file
@@ -1,3 +1,4 @@
 the first line
-the old line
+the new line
+one more line
 the last line`;

/**
 * A tool that reports a file change. `how` does more: `much` creates a file of `MANY_LINES` lines. `slowly` shows the model's
 * next answer as it grows, and reports the change when the answer is complete and the promise of `gate` has resolved.
 */
export function changingTool(gate: () => Promise<void>) {
  return defineTool({
    name: "change",
    description: "Changes a file.",
    input: { type: "object" },
    effects: "external",
    async execute({ path, how }: { path: string; how: string }, { changed, draft, follow }) {
      const file = { path, before: "0".repeat(64), after: "1".repeat(64) };
      const change = () => changed({ ...file, kind: "changed", added: 2, removed: 1, diff: DIFF });
      switch (how) {
        case "slowly": {
          // Read the gate now: a test opens it after the last word, maybe before the answer is complete.
          const opened = gate();
          follow({ text: (delta) => draft({ index: 0, path, text: delta }), completed: () => opened.then(change) });
          return "Write the new text.";
        }
        case "much": {
          const lines = Array.from({ length: MANY_LINES }, (_, line) => `+line ${line + 1} of many`);
          const diff = `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${MANY_LINES} @@\n${lines.join("\n")}`;
          await changed({ ...file, kind: "created", before: null, added: MANY_LINES, removed: 0, diff });
          break;
        }
        default:
          await change();
      }
      return `changed ${path}`;
    },
  });
}
