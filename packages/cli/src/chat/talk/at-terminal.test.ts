import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../../testing/banyan.ts";
import { modelServer } from "../../testing/model-server.ts";
import { hasTmux, Pty } from "../../testing/pty.ts";
import { serving } from "../../testing/serving.ts";

/** Records the final size of the young generation. */
const PROBE = `
process.on("exit", () => {
  const young = require("node:v8").getHeapSpaceStatistics().find((space) => space.space_name === "new_space");
  require("node:fs").writeFileSync(process.env.PROBED, String(young.space_size));
});`;

test.skipIf(!hasTmux)(
  "a terminal that stays open for long keeps little room for young objects, here and at a server",
  async () => {
    using place = home();
    await using model = await modelServer({ text: "Hello." });
    await serving(place, model.env);
    const [probe, probed] = [join(place.workspace, "..", "probe.cjs"), join(place.workspace, "..", "probed")];
    writeFileSync(probe, PROBE);
    for (const args of [["--model", "openai-compatible/test"], ["attach"]]) {
      using pty = Pty.open(place, args, { ...model.env, NODE_OPTIONS: `--require=${probe}`, PROBED: probed });
      await pty.prompted();
      pty.press("C-d");
      await pty.until("[exit 0]");
      // Without the limit it would be 32 MB.
      expect(Number(readFileSync(probed, "utf8")), args[0]).toBeLessThan(8 * 1024 * 1024);
    }
  },
);
