import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { modelServer, type ServerAnswer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const edits: ServerAnswer = { calls: [{ tool: "edit_mode", input: { file_path: "oak.txt" } }] };
const block = (range: string) => ({ text: `So:\n\n\`\`\`txt:${range}\nslow\n\`\`\`\n` });

test.skipIf(!hasTmux)(
  "B32: what edit mode changed is shown once, as it was changed; what it could not change is told",
  { timeout: 60_000 },
  async () => {
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
    await pty.exchange("make it longer", "It is not longer.");
    expect(pty.screen()).toContain("tool: No block was applied.");
  },
);
