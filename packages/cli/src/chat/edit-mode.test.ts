import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { modelServer, type ServerAnswer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const edits: ServerAnswer = { calls: [{ tool: "edit_mode", input: { file_path: "oak.txt" } }] };
const REFUSED =
  "tool: No block was applied. oak.txt: nothing applied: block 1 (txt:7:8) reaches beyond the end: the file has 1 line, so END is at most 2.";
const block = (range: string) => ({ text: `So:\n\n\`\`\`txt:${range}\nslow\n\`\`\`\n` });

test.skipIf(!hasTmux)("B32: the chat shows each change by edit mode once, and reports a failed change", async () => {
  using place = home();
  writeFileSync(join(place.workspace, "oak.txt"), "tall\n");
  await using model = await modelServer(
    ...[edits, block("1:2"), { text: "It is slow." }],
    ...[edits, block("7:8"), { text: "It is not longer." }],
  );
  using pty = Pty.open(place, ["--approval", "edits", "--model", "openai-compatible/test"], model.env);
  await pty.prompted();
  const screen = await pty.exchange("make it slow", "It is slow.");
  expect(screen).toContain("changed oak.txt, 1 line added, 1 removed");
  expect(screen).not.toContain("applied");
  expect(JSON.stringify(model.asked[2])).toContain("All blocks were applied.");
  const after = await pty.exchange("make it longer", "It is not longer.");
  expect(after.replace(/\n +/g, " ")).toContain(REFUSED);
});

test.skipIf(!hasTmux)(
  "B32, T39: in plain lines too, what edit mode could not change is told with the reason",
  async () => {
    using place = home();
    writeFileSync(join(place.workspace, "oak.txt"), "tall\n");
    await using model = await modelServer(edits, block("7:8"), { text: "It is not longer." });
    const args = ["--plain", "--approval", "edits", "--model", "openai-compatible/test"];
    using pty = Pty.open(place, args, model.env);
    await pty.prompted();
    const after = await pty.exchange("make it longer", "It is not longer.");
    expect(after.replace(/\n +|\n/g, " ")).toContain(REFUSED);
  },
);
