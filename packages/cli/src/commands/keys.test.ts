import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

test.skipIf(!hasTmux)(
  "T13: keys of the settings file count; a conflict is said at the start, and /keys shows what is in effect",
  async () => {
    using place = home();
    const config = join(place.env.BANYAN_HOME ?? "", "config");
    mkdirSync(config, { recursive: true });
    const keys = { "approval-mode": "ctrl+r", "page-close": "x", redraw: [] };
    writeFileSync(join(config, "settings.json"), JSON.stringify({ keys, model: "demo/offline" }));
    {
      using pty = Pty.open(place, []);
      expect(await pty.prompted()).toContain(
        "keys: Ctrl-R cannot be both 'approval-mode' and 'history-search'; it is 'approval-mode' now.",
      );
      pty.press("C-r");
      await pty.until("chat · edits freely");
      pty.enter("/keys");
      const table = await pty.until("`banyan config path` shows the path of the settings file");
      expect(table).toMatch(/^ {2}approval-mode +Ctrl-R \(yours\) +changes the approval mode$/m);
      expect(table).toMatch(/^ {2}history-search +none /m);
      expect(table).toMatch(/^ {2}redraw +none \(yours\) /m);
      expect(table).toMatch(/^ {2}send +Enter /m);
      expect(table).toMatch(/^ {2}page-close +x \(yours\) +goes back$/m);
    }
    using plain = Pty.open(place, ["--plain"]);
    await plain.prompted();
    plain.enter("/keys");
    await plain.until("In a plain terminal, your system's own keys edit the line.");
  },
);
