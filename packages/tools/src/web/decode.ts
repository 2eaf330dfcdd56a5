import { isUtf8 } from "node:buffer";
import { TextDecoder } from "node:util";
import { cutBefore } from "@banyan/core/shown";
import { wholeLength } from "../workspace/files/output.ts";

const PRESCAN = 1024;

/**
 * Decodes a text from the web. A byte-order mark decides the encoding; without one, the server does, or else the page.
 * The default is UTF-8, or Windows-1252 for invalid UTF-8, as in browsers. If the text was cut, an incomplete character
 * at the end is left out. `behind`: the bytes after the cut, if known.
 */
export function decodeText(bytes: Buffer, charset: string | undefined, behind?: Buffer): string {
  const isCut = behind !== undefined;
  const named = [byteOrderMark(bytes), charset, declaredCharset(bytes)];
  const decoder =
    named.map(decoderOf).find((one) => one !== undefined) ??
    decoderOf(isUtf8(isCut ? bytes.subarray(0, wholeLength(bytes)) : bytes) ? "utf-8" : "windows-1252");
  const text = decoder?.decode(bytes, { stream: isCut }) ?? "";
  if (!decoder || !behind || behind.length === 0) return text;
  const more = new TextDecoder(decoder.encoding).decode(Buffer.concat([bytes, behind]));
  return text.slice(0, cutBefore(more, text.length));
}

function byteOrderMark(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? "utf-8" : undefined;
}

function declaredCharset(bytes: Buffer): string | undefined {
  const start = bytes.toString("latin1", 0, PRESCAN);
  const declared =
    /<meta[^<>]+charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(start) ??
    /^<\?xml[^<>]+encoding\s*=\s*["']([\w.-]+)/.exec(start);
  // A page whose ASCII declaration could be read is not in UTF-16.
  return declared?.[1]?.replace(/^utf-16.*$/i, "utf-8");
}

function decoderOf(name: string | undefined): TextDecoder | undefined {
  try {
    return name === undefined ? undefined : new TextDecoder(name);
  } catch {
    // The encoding is unknown: try the next declaration.
    return undefined;
  }
}
