import { spawn } from "node:child_process";
import { pathWithout } from "@banyan/host/find-program";
import { plainText } from "../../show/plain-text.ts";

/** Environment variables and platform, which decide how to access the clipboard. */
export interface ClipboardContext {
  readonly env: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
}

/**
 * Result of copying. `taken`: a program accepted the text. `handed`: the terminal received the text, without a reply.
 * `long`: the text is too long for terminals. `nothing`: no clipboard is accessible.
 */
export type CopyOutcome = "taken" | "handed" | "long" | "nothing";

type ClipboardCommand = readonly [program: string, ...args: string[]];

/** A program that prints the clipboard's image. */
interface ClipboardReader {
  readonly words: ClipboardCommand;
  /** Converts the output to the image's bytes. Default: the output itself. */
  decode?(printed: Buffer): Buffer;
}

const PATIENCE = 5_000;
/** Maximum bytes of an image: more than an attachment may have. */
const MOST_READ = 32 * 1024 * 1024;
/** Maximum base64 bytes in one sequence to a terminal. */
const MOST_HANDED = 100_000;

/**
 * Copies a text to the user's clipboard, without control characters. Uses a desktop program or tmux if available, or
 * else the terminal (OSC 52), which works over ssh too. `send` writes to the terminal.
 */
export async function copyText(
  text: string,
  send: (bytes: string) => void,
  context: ClipboardContext,
): Promise<CopyOutcome> {
  // The user may paste the text into a shell.
  const plain = plainText(text);
  for (const words of writers(context)) if (await runClipboardProgram(words, context.env, plain)) return "taken";
  const { TERM = "", STY } = context.env;
  if (TERM === "" || TERM === "dumb" || TERM === "linux") return "nothing";
  const payload = Buffer.from(plain).toString("base64");
  if (payload.length > MOST_HANDED) return "long";
  const sequence = `\x1b]52;c;${payload}\x07`;
  send(STY ? throughScreen(sequence) : sequence);
  return "handed";
}

/** Resolves with the bytes of the clipboard's image, if any. Rejects if no program can read the clipboard. */
export async function readClipboardPicture(context: ClipboardContext): Promise<Buffer | undefined> {
  let isRead = false;
  for (const { words, decode = (bytes: Buffer) => bytes } of readers(context)) {
    const printed = await runClipboardProgram(words, context.env);
    isRead ||= printed !== undefined;
    if (printed && printed.length > 0) return decode(printed);
  }
  if (!isRead) throw new Error(UNREADABLE);
  return undefined;
}

const UNREADABLE =
  "Reading a picture from your clipboard needs wl-paste, xclip, pngpaste or PowerShell on the machine with your desktop. Paste the path of a file instead.";

function writers({ env, platform = process.platform }: ClipboardContext): ClipboardCommand[] {
  const { SSH_CONNECTION, SSH_TTY, WAYLAND_DISPLAY, DISPLAY, WSL_DISTRO_NAME, TMUX } = env;
  const tmux: ClipboardCommand[] = TMUX ? [["tmux", "load-buffer", "-w", "-"]] : [];
  // Over ssh, the remote machine's clipboard is useless.
  if (SSH_CONNECTION || SSH_TTY) return tmux;
  if (platform === "darwin") return [["pbcopy"], ...tmux];
  if (platform === "win32" || WSL_DISTRO_NAME) return [[...POWERSHELL, WRITE_ON_WINDOWS], ...tmux];
  const wayland: ClipboardCommand[] = WAYLAND_DISPLAY ? [["wl-copy"]] : [];
  const x: ClipboardCommand[] = DISPLAY
    ? [
        ["xclip", "-selection", "clipboard", "-in"],
        ["xsel", "--clipboard", "--input"],
      ]
    : [];
  return [...wayland, ...x, ...tmux];
}

function readers({ env, platform = process.platform }: ClipboardContext): ClipboardReader[] {
  const { WAYLAND_DISPLAY, DISPLAY, WSL_DISTRO_NAME } = env;
  if (platform === "darwin")
    return [
      { words: ["pngpaste", "-"] },
      // The output is «data PNGf89504E47…».
      {
        words: ["osascript", "-e", "the clipboard as «class PNGf»"],
        decode: (printed) => Buffer.from(/PNGf([0-9A-F]+)/.exec(printed.toString())?.[1] ?? "", "hex"),
      },
    ];
  const powershell: ClipboardReader = {
    words: [...POWERSHELL, READ_ON_WINDOWS],
    decode: (printed) => Buffer.from(printed.toString(), "base64"),
  };
  if (platform === "win32") return [powershell];
  return [
    ...(WAYLAND_DISPLAY
      ? IMAGES.map((type): ClipboardReader => ({ words: ["wl-paste", "--no-newline", "--type", type] }))
      : []),
    ...(DISPLAY
      ? IMAGES.map((type): ClipboardReader => ({ words: ["xclip", "-selection", "clipboard", "-t", type, "-o"] }))
      : []),
    ...(WSL_DISTRO_NAME ? [powershell] : []),
  ];
}

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const POWERSHELL: ClipboardCommand = ["powershell.exe", "-NoProfile", "-NonInteractive", "-Sta", "-Command"];

/** Not `clip.exe`, which assumes another encoding. */
const WRITE_ON_WINDOWS =
  "[Console]::InputEncoding = [System.Text.Encoding]::UTF8; Set-Clipboard -Value ([Console]::In.ReadToEnd())";

const READ_ON_WINDOWS = [
  "Add-Type -AssemblyName System.Windows.Forms, System.Drawing",
  "$picture = [System.Windows.Forms.Clipboard]::GetImage()",
  "if ($picture) { $bytes = New-Object System.IO.MemoryStream; $picture.Save($bytes, [System.Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($bytes.ToArray()) }",
].join("; ");

/** `screen` passes on the content of a DCS sequence, whose length is limited. */
function throughScreen(sequence: string): string {
  return (sequence.match(/[\s\S]{1,200}/g) ?? []).map((piece) => `\x1bP${piece}\x1b\\`).join("");
}

/**
 * Runs a program, but never from the working directory (S16). Resolves with its output: empty if the program failed,
 * undefined if it could not be started.
 */
function runClipboardProgram(
  words: ClipboardCommand,
  env: NodeJS.ProcessEnv,
  input?: string,
): Promise<Buffer | undefined> {
  const [program, ...args] = words;
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
  const printed: Buffer[] = [];
  let size = 0;
  const child = spawn(program, args, {
    // A program that offers a text to others may stay, and keep its output open.
    stdio: ["pipe", input === undefined ? "pipe" : "ignore", "ignore"],
    env: { ...env, PATH: pathWithout([process.cwd()], env.PATH ?? "") },
    timeout: PATIENCE,
    killSignal: "SIGKILL",
    windowsHide: true,
  });
  child.stdout?.on("data", (bytes: Buffer) => {
    size += bytes.length;
    if (size > MOST_READ) child.kill("SIGKILL");
    else printed.push(bytes);
  });
  child.once("error", () => resolve(undefined));
  child.once("close", (code) => resolve(code === 0 ? Buffer.concat(printed) : Buffer.alloc(0)));
  if (input !== undefined) child.once("exit", (code) => resolve(code === 0 ? Buffer.alloc(0) : undefined));
  child.stdin?.on("error", () => {
    // The program ended before it read everything: its exit code decides.
  });
  child.stdin?.end(input);
  return promise;
}
