// Draws docs/conversation.svg, the picture in the README: a real conversation in a real terminal (tmux), typed by this
// script and answered by the offline demo. Run it with `npm run picture` after the terminal's looks changed.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** What each change of colour begins with. */
const CSI = "\u001b[";
const columns = 100;
const rows = 54;
const root = fileURLToPath(new URL("..", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "banyan-picture-"));
const workspace = join(home, "garden");
const socket = join(home, "tmux");

function tmux(...args: readonly string[]): string {
  return execFileSync("tmux", ["-S", socket, ...args], { encoding: "utf8" });
}

/** Waits until the screen shows a text. */
async function shows(pattern: RegExp): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (pattern.test(tmux("capture-pane", "-p", "-J"))) return;
    await sleep(100);
  }
  throw new Error(`The terminal never showed ${pattern}:\n${tmux("capture-pane", "-p")}`);
}

async function type(line: string): Promise<void> {
  tmux("send-keys", "-l", line);
  tmux("send-keys", "Enter");
  await sleep(300);
}

try {
  execFileSync("mkdir", ["-p", workspace]);
  writeFileSync(join(workspace, "trees.md"), "# Trees\n\n- oak\n- banyan\n- willow\n");
  writeFileSync(
    join(workspace, "water.sh"),
    'for tree in oak banyan willow; do echo "watering $tree"; sleep 2; done\n',
  );
  const banyan = `BANYAN_HOME=${home}/banyan BANYAN_NO_DISCOVERY=1 node ${root}packages/cli/src/main.ts --cwd ${workspace}`;
  tmux(
    "-f",
    "/dev/null",
    "new-session",
    "-d",
    "-x",
    String(columns),
    "-y",
    String(rows),
    "env",
    "-i",
    "sh",
    "-c",
    `export PATH=${process.env.PATH} HOME=${home} TERM=tmux-256color LANG=C.UTF-8; ${banyan}`,
  );
  await shows(/Reply to banyan/);
  await type("replace 'oak' with 'old oak' in trees.md");
  await shows(/always/);
  await sleep(600);
  await type("y");
  await shows(/changed|replaced|Reply to banyan: *$/im);
  await sleep(800);
  await type("run `sh water.sh`");
  await shows(/always/);
  await sleep(600);
  await type("y");
  await sleep(2_600);
  tmux("send-keys", "C-c");
  await shows(/you have control/);
  await sleep(400);
  writeFileSync(join(root, "docs/conversation.svg"), picture(tmux("capture-pane", "-p", "-e").replaceAll(home, "~")));
} finally {
  try {
    tmux("kill-server");
  } catch {
    // It ended with the program.
  }
  rmSync(home, { recursive: true, force: true });
}

interface Look {
  readonly color: string;
  readonly bold: boolean;
  readonly dim: boolean;
}

/** A screen with its colours as a picture. */
function picture(screen: string): string {
  const palette = ["#484f58", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#c9d1d9"];
  const plain: Look = { color: "#c9d1d9", bold: false, dim: false };
  const lines = screen.trimEnd().split("\n");
  let look = plain;
  const drawn = lines.map((line, row) => {
    const spans: string[] = [];
    for (const [index, piece] of line.split(CSI).entries()) {
      const end = index === 0 ? -1 : piece.indexOf("m");
      const codes = index === 0 ? undefined : piece.slice(0, end);
      const text = piece.slice(end + 1);
      for (const code of codes === undefined ? [] : codes.split(";").map(Number)) {
        if (code === 0) look = plain;
        else if (code === 1) look = { ...look, bold: true };
        else if (code === 2) look = { ...look, dim: true };
        else if (code === 22) look = { ...look, bold: false, dim: false };
        else if (code === 39) look = { ...look, color: plain.color };
        else if (code >= 30 && code <= 37) look = { ...look, color: palette[code - 30] ?? plain.color };
        else if (code >= 90 && code <= 97) look = { ...look, color: palette[code - 90] ?? plain.color };
      }
      if (text === "") continue;
      const weight = look.bold ? ' font-weight="bold"' : "";
      const opacity = look.dim ? ' opacity="0.6"' : "";
      spans.push(`<tspan fill="${look.color}"${weight}${opacity}>${escaped(text)}</tspan>`);
    }
    return `<text x="16" y="${30 + row * 18}" xml:space="preserve">${spans.join("")}</text>`;
  });
  const height = 30 + lines.length * 18;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${columns * 8.4 + 32} ${height}" font-family="ui-monospace, 'DejaVu Sans Mono', monospace" font-size="14">
<title>A conversation in the terminal</title>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${drawn.join("\n")}
</svg>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
