import { defineTool } from "@banyan/core";

/** Lines of the longest diff that a page has to show (W31). */
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
 * A tool that says it changed a file. With `how` it does more: `much` makes a file of `MANY_LINES` lines; `slowly` takes
 * the model's next answer for the new text, shows it as it grows, and changes the file when the answer is complete and
 * what `gate` gave at the beginning has resolved.
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
          // Taken now: a test that has seen the last word opens it, maybe before the answer is complete.
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
