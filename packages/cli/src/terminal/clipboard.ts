import { spawn } from "node:child_process";
import { pathWithout } from "@banyan/host/find-program";
import { plainText } from "../show/plain-text.ts";

/** What a clipboard is reached by: the variables of this process and the system that it runs on. */
export interface ClipboardPlace {
  readonly env: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
}

/**
 * What became of a text: a program has `taken` it; it was `handed` to the terminal, which says nothing to that and may not
 * take it; it is `long`er than terminals take; or there is `nothing` that could.
 */
export type Copied = "taken" | "handed" | "long" | "nothing";

/** A program and its arguments. */
type Words = readonly [program: string, ...args: string[]];

/** A program that prints a picture, and how. */
interface Reader {
  readonly words: Words;
  /** The bytes of it, if it is not printed as it is. */
  decode?(printed: Buffer): Buffer;
}

/** Milliseconds that a program has. */
const PATIENCE = 5_000;
/** Bytes that are read: more than anything that goes along with a message. */
const MOST_READ = 32 * 1024 * 1024;
/** Bytes in base 64 that terminals take at once. */
const MOST_HANDED = 100_000;

/**
 * Puts a text into the clipboard of the person: by a program of their desktop or of tmux where there is one, else by asking
 * the terminal (OSC 52), which reaches their own machine over ssh too. `send` writes to the terminal. What would control one
 * is left out.
 */
export async function copyText(text: string, send: (bytes: string) => void, place: ClipboardPlace): Promise<Copied> {
  // It may be pasted into a shell.
  const plain = plainText(text);
  for (const words of writers(place)) if (await run(words, place.env, plain)) return "taken";
  const { TERM = "", STY } = place.env;
  if (TERM === "" || TERM === "dumb" || TERM === "linux") return "nothing";
  const payload = Buffer.from(plain).toString("base64");
  if (payload.length > MOST_HANDED) return "long";
  const asked = `\x1b]52;c;${payload}\x07`;
  send(STY ? throughScreen(asked) : asked);
  return "handed";
}

/**
 * The bytes of the picture that is in the clipboard, as whoever put it there made it; nothing when there is none. Rejects
 * with a sentence where no program can read it.
 */
export async function readPicture(place: ClipboardPlace): Promise<Buffer | undefined> {
  let isRead = false;
  for (const { words, decode = asPrinted } of readers(place)) {
    const printed = await run(words, place.env);
    isRead ||= printed !== undefined;
    if (printed && printed.length > 0) return decode(printed);
  }
  if (!isRead) throw new Error(UNREADABLE);
  return undefined;
}

function asPrinted(printed: Buffer): Buffer {
  return printed;
}

const UNREADABLE =
  "Nothing here can read a picture from your clipboard: that takes wl-paste, xclip, pngpaste or PowerShell where your desktop is. The path of a file can be pasted instead.";

function writers({ env, platform = process.platform }: ClipboardPlace): Words[] {
  const { SSH_CONNECTION, SSH_TTY, WAYLAND_DISPLAY, DISPLAY, WSL_DISTRO_NAME, TMUX } = env;
  const tmux: Words[] = TMUX ? [["tmux", "load-buffer", "-w", "-"]] : [];
  // The clipboard of the machine at the other end is nobody's.
  if (SSH_CONNECTION || SSH_TTY) return tmux;
  if (platform === "darwin") return [["pbcopy"], ...tmux];
  if (platform === "win32" || WSL_DISTRO_NAME) return [[...POWERSHELL, WRITE_ON_WINDOWS], ...tmux];
  const wayland: Words[] = WAYLAND_DISPLAY ? [["wl-copy"]] : [];
  const x: Words[] = DISPLAY
    ? [
        ["xclip", "-selection", "clipboard", "-in"],
        ["xsel", "--clipboard", "--input"],
      ]
    : [];
  return [...wayland, ...x, ...tmux];
}

function readers({ env, platform = process.platform }: ClipboardPlace): Reader[] {
  const { WAYLAND_DISPLAY, DISPLAY, WSL_DISTRO_NAME } = env;
  if (platform === "darwin")
    return [
      { words: ["pngpaste", "-"] },
      // It prints «data PNGf89504E47…».
      {
        words: ["osascript", "-e", "the clipboard as «class PNGf»"],
        decode: (printed) => Buffer.from(/PNGf([0-9A-F]+)/.exec(printed.toString())?.[1] ?? "", "hex"),
      },
    ];
  const powershell: Reader = {
    words: [...POWERSHELL, READ_ON_WINDOWS],
    decode: (printed) => Buffer.from(printed.toString(), "base64"),
  };
  if (platform === "win32") return [powershell];
  return [
    ...(WAYLAND_DISPLAY ? IMAGES.map((type): Reader => ({ words: ["wl-paste", "--no-newline", "--type", type] })) : []),
    ...(DISPLAY
      ? IMAGES.map((type): Reader => ({ words: ["xclip", "-selection", "clipboard", "-t", type, "-o"] }))
      : []),
    ...(WSL_DISTRO_NAME ? [powershell] : []),
  ];
}

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const POWERSHELL: Words = ["powershell.exe", "-NoProfile", "-NonInteractive", "-Sta", "-Command"];

/** `clip.exe` would take bytes for another encoding. */
const WRITE_ON_WINDOWS =
  "[Console]::InputEncoding = [System.Text.Encoding]::UTF8; Set-Clipboard -Value ([Console]::In.ReadToEnd())";

/** Prints the picture as PNG, in base 64. */
const READ_ON_WINDOWS = [
  "Add-Type -AssemblyName System.Windows.Forms, System.Drawing",
  "$picture = [System.Windows.Forms.Clipboard]::GetImage()",
  "if ($picture) { $bytes = New-Object System.IO.MemoryStream; $picture.Save($bytes, [System.Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($bytes.ToArray()) }",
].join("; ");

/** `screen` hands on what stands in a DCS, of which it takes short ones. */
function throughScreen(sequence: string): string {
  return (sequence.match(/[\s\S]{1,200}/g) ?? []).map((piece) => `\x1bP${piece}\x1b\\`).join("");
}

/**
 * Runs a program, not one of that name in the working directory (S16), and resolves with what it prints; with nothing of one
 * that could not be started. Of one that failed that is empty.
 */
function run(words: Words, env: NodeJS.ProcessEnv, input?: string): Promise<Buffer | undefined> {
  const [program, ...args] = words;
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
  const printed: Buffer[] = [];
  let size = 0;
  const child = spawn(program, args, {
    // What takes a text may stay to offer it, and would keep what it prints to open.
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
  // What took a text may go on as another process that offers it.
  if (input !== undefined) child.once("exit", (code) => resolve(code === 0 ? Buffer.alloc(0) : undefined));
  child.stdin?.on("error", () => {
    // It has ended before it had all of it: its exit code says what that means.
  });
  child.stdin?.end(input);
  return promise;
}
