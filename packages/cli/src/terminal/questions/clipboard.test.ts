import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copyText, readClipboardPicture } from "./clipboard.ts";

/** Creates a folder with programs, each a shell script. */
function programs(scripts: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "banyan-clipboard-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o700);
  }
  return folder;
}

async function copied(text: string, env: NodeJS.ProcessEnv) {
  const sent: string[] = [];
  const what = await copyText(text, (bytes) => void sent.push(bytes), { env, platform: "linux" });
  return [what, sent.join("")];
}

test("T54: a text goes to the program of the desktop; where that is not there or fails, the terminal is asked", async () => {
  const PATH = programs({ xclip: `/bin/cat > "$OUT"`, "wl-copy": "exit 1" });
  const OUT = join(PATH, "out");
  const desktop = { PATH, OUT, DISPLAY: ":0", WAYLAND_DISPLAY: "w", TERM: "xterm" };
  expect(await copied("löwe\n", desktop)).toEqual(["taken", ""]);
  expect(readFileSync(OUT, "utf8")).toBe("löwe\n");
  const asked = "\x1b]52;c;bMO2d2U=\x07";
  expect(await copied("löwe", { PATH, TERM: "xterm" })).toEqual(["handed", asked]);
  // Over ssh, the remote desktop is useless.
  expect(await copied("löwe", { ...desktop, SSH_CONNECTION: "a b" })).toEqual(["handed", asked]);
  expect(await copied("löwe", { TERM: "screen", STY: "1" })).toEqual(["handed", `\x1bP${asked}\x1b\\`]);
  expect(await copied("lö\x1b[201~\x07we", { TERM: "xterm" })).toEqual(["handed", asked]);
  expect(await copied("löwe", { TERM: "linux" })).toEqual(["nothing", ""]);
  expect(await copied("x".repeat(100_000), { TERM: "xterm" })).toEqual(["long", ""]);
});

test("T50: a picture is read by the program of the desktop; none in the clipboard and no program are told apart", async () => {
  const PATH = programs({ xclip: `[ "$4" = image/jpeg ] || exit 1\nprintf 'bytes'` });
  const place = { env: { PATH, DISPLAY: ":0" }, platform: "linux" } as const;
  expect((await readClipboardPicture(place))?.toString()).toBe("bytes");
  const none = programs({ xclip: "exit 1" });
  expect(await readClipboardPicture({ ...place, env: { PATH: none, DISPLAY: ":0" } })).toBeUndefined();
  await expect(readClipboardPicture({ ...place, env: { PATH } })).rejects.toThrow(
    "Reading a picture from your clipboard needs",
  );
  const mac = programs({ osascript: "printf '«data PNGf6279746573»'" });
  expect((await readClipboardPicture({ env: { PATH: mac }, platform: "darwin" }))?.toString()).toBe("bytes");
  const windows = programs({ "powershell.exe": "printf 'Ynl0ZXM='" });
  expect((await readClipboardPicture({ env: { PATH: windows }, platform: "win32" }))?.toString()).toBe("bytes");
});
