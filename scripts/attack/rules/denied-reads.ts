import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Attack } from "../attack.ts";
import { inSandbox } from "../in-sandbox.ts";

// S42: a sandboxed command cannot open a file that a deny rule on reading matches.

const SECRET = "attack-marker-2c81d0";
const FILES = [".env", "app/.env", "secrets/key", "secrets/deep/key"];
const RULES = ["Read(./.env)", "read(secrets/**)"];

/** Shell commands that try to show the file `$F`. */
const ways: Readonly<Record<string, string>> = {
  plainly: 'cat "$F"; head -1 "./$F"; cp "$F" c; cat c',
  "by links": 'ln -s "$F" l; cat l; ln "$F" h; cat h; ln -s "$PWD" w; cat "w/$F"',
  "after a rename": 'mv "$F" m; cat m; mv "$(dirname "$F")" d; cat d/*; cat d/.env d/*/*',
  "after a removal or an unmount": 'umount -l "$F"; rm -rf "$F"; cat "$F"; umount -l secrets; cat "$F"',
  "by /proc": 'cat "/proc/self/root/$PWD/$F" "/proc/1/root/$PWD/$F" "/proc/self/cwd/$F"',
  "in a namespace of its own": 'unshare -Urm sh -c "umount -l \\"$F\\"; umount -l secrets; cat \\"$F\\""',
  "by an archive of the folder": "tar c . | strings; grep -r marker .; find . -type f -exec cat {} +",
  "by a descriptor of the folder": 'exec 5<.; cat "/proc/self/fd/5/$F"; cd /proc/self/fd/5 && cat "$F"',
};

export const attacks: readonly Attack[] = Object.entries(ways).map(([how, command]) => ({
  rule: "S42",
  name: `files that rules deny ${how}`,
  async attempt(place) {
    for (const file of FILES) {
      mkdirSync(dirname(join(place.folder, file)), { recursive: true });
      writeFileSync(join(place.folder, file), `${SECRET}\n`);
    }
    const settings = join(place.env.BANYAN_HOME ?? "", "config/settings.json");
    mkdirSync(dirname(settings), { recursive: true });
    writeFileSync(settings, JSON.stringify({ permissions: { deny: RULES } }));
    const said = await inSandbox(place, FILES.map((file) => `F='${file}'; (${command})`).join("\n"));
    if (said.includes(SECRET)) return "a command printed what the file holds";
    const changed = FILES.filter((file) => readFileSync(join(place.folder, file), "utf8") !== `${SECRET}\n`);
    return changed.length > 0 ? `a command changed ${changed.join(", ")}` : undefined;
  },
}));
