import { mediaIn, type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { onAbort } from "@banyan/core/hosts";
import type { NetworkReach } from "./checked-lookup.ts";
import { WebError } from "./error.ts";
import { getAddress, readWebAddress, type WebResponse } from "./get.ts";

/** Options of `readWebPicture`. See {@link readWebPicture}. */
export interface ReadPictureOptions extends NetworkReach {
  readonly signal: AbortSignal;
  /** Milliseconds until the response is complete, including redirects. Default 20,000. */
  readonly timeout?: number;
  /** Maximum bytes to load of an image, after decompression. Default 5 MiB. */
  readonly maxBytes?: number;
  /** Returns why not to fetch an address; undefined if allowed. `from` redirects there, or is the address that the user saw. */
  whyNot?(address: URL, from: URL): string | undefined;
}

const OPTIONS: OptionNames<ReadPictureOptions> = {
  allowAddress: true,
  resolve: true,
  signal: true,
  timeout: true,
  maxBytes: true,
  whyNot: true,
};

/**
 * An image from the web, unchanged: a format that browsers show and that contains no code. See {@link readWebPicture}.
 */
export interface WebPicture {
  readonly address: string;
  readonly mediaType: keyof typeof PIXELS;
  readonly bytes: Uint8Array;
}

const MiB = 1024 * 1024;
const DEFAULT_TIMEOUT = 20_000;
const DEFAULT_MAX_BYTES = 5 * MiB;
/** A few bytes can declare an image whose pixels fill the memory of the program that shows it. */
const MOST_PIXELS = 50_000_000;

const ACCEPT = "image/png, image/jpeg, image/gif, image/webp";

/**
 * Fetches an image of the public web (S11, S12). The bytes decide whether it is PNG, JPEG, GIF or WebP, not the
 * server's media type. The checks of `fetch` apply, and the request does not identify the user. Rejects with a
 * `WebError`, or with the signal's reason.
 * @example
 * const { mediaType, bytes } = await readWebPicture("https://example.com/oak.png", { signal, timeout: 5_000 });
 */
export async function readWebPicture(url: string, options: ReadPictureOptions): Promise<WebPicture> {
  refuseUnknown("readWebPicture", options, OPTIONS);
  const { timeout = DEFAULT_TIMEOUT, maxBytes = DEFAULT_MAX_BYTES } = options;
  const mayFollow = () => Promise.resolve(true);
  const of = { ...options, timeout, maxBytes, mayFollow, accept: ACCEPT };
  const answer = await getAddress(readWebAddress(url), mayBePicture, of);
  const { address, status, body, cut, length = 0 } = answer;
  if (status < 200 || status > 299) throw failedPictureError(answer);
  if (!mayBePicture(answer.type)) throw noPicture(address, `it is ${answer.type}`);
  if (cut === "size" || length > maxBytes)
    throw new WebError("size", `${address.href} is larger than ${maxBytes} bytes, so it is not shown.`);
  if (cut === "time") throw new WebError("time", `${address.href} did not load completely within ${timeout} ms.`);
  const mediaType = mediaIn(body)?.mediaType;
  const pixels = isKind(mediaType) ? PIXELS[mediaType](body) : undefined;
  if (!isKind(mediaType) || !pixels) throw noPicture(address, "its content is in another format");
  if (pixels > MOST_PIXELS)
    throw new WebError("size", `${address.href} has ${pixels} pixels, more than ${MOST_PIXELS}, so it is not shown.`);
  return { address: address.href, mediaType, bytes: body };
}

/** Maximum number of concurrent fetches: each image is held in memory as a whole. */
const MOST_AT_ONCE = 8;

/**
 * Fetches images for users in the order of their requests, at most eight images at once (S11).
 * @example
 * const pictures = new WebPictures();
 * const { bytes } = await pictures.read("https://example.com/oak.png", { signal });
 */
export class WebPictures {
  #underWay = 0;
  readonly #waiting = new Set<() => void>();

  /** Fetches an image like `readWebPicture`. The timeout starts when the fetch starts. */
  async read(url: string, options: ReadPictureOptions): Promise<WebPicture> {
    if (this.#underWay < MOST_AT_ONCE) this.#underWay += 1;
    else await this.#turn(options.signal);
    try {
      return await readWebPicture(url, options);
    } finally {
      const [next] = this.#waiting;
      if (next) {
        this.#waiting.delete(next);
        next();
      } else this.#underWay -= 1;
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const turn = Promise.withResolvers<void>();
    this.#waiting.add(turn.resolve);
    using _ = onAbort(signal, () => {
      this.#waiting.delete(turn.resolve);
      turn.reject(signal.reason);
    });
    await turn.promise;
  }
}

/** Returns whether to read the body; its bytes decide later. SVG, which may contain scripts and addresses, is text there. */
function mayBePicture(type: string): boolean {
  return type === "" || type.endsWith("/octet-stream") || type.startsWith("image/");
}

function failedPictureError({ address, status }: WebResponse): WebError {
  if (status === 404 || status === 410)
    return new WebError("missing", `There is nothing at ${address.href}: its server answered ${status}.`);
  return new WebError("status", `${address.href} was refused: its server answered ${status}.`);
}

function noPicture(address: URL, why: string): WebError {
  return new WebError("content", `${address.href} is not an image that can be shown (PNG, JPEG, GIF, WebP): ${why}.`);
}

/** By media type: returns the number of pixels that an image declares; undefined for a malformed header. */
const PIXELS = {
  "image/png": (bytes: Buffer) =>
    bytes.length >= 24 && bytes.toString("latin1", 12, 16) === "IHDR"
      ? bytes.readUInt32BE(16) * bytes.readUInt32BE(20)
      : undefined,
  "image/gif": pixelsOfGif,
  "image/jpeg": pixelsOfJpeg,
  "image/webp": pixelsOfWebp,
} as const;

function isKind(mediaType: string | undefined): mediaType is keyof typeof PIXELS {
  return mediaType !== undefined && mediaType in PIXELS;
}

const EXTENSION = 0x21;
const IMAGE = 0x2c;

/** Computes the canvas for the header and all images together: browsers enlarge a canvas that is too small. */
function pixelsOfGif(bytes: Buffer): number | undefined {
  if (bytes.length < 10) return undefined;
  let [width, height] = [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
  for (let at = 13 + coloursOf(bytes[10]); at + 10 <= bytes.length; ) {
    if (bytes[at] === IMAGE) {
      width = Math.max(width, bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5));
      height = Math.max(height, bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7));
      at += 11 + coloursOf(bytes[at + 9]);
    } else if (bytes[at] === EXTENSION) at += 2;
    else break;
    while (bytes[at]) at += 1 + (bytes[at] ?? 0);
    at += 1;
  }
  return width * height;
}

function coloursOf(bits = 0): number {
  return bits & 0x80 ? 3 * 2 ** ((bits & 7) + 1) : 0;
}

/** The markers of frame headers. The omitted markers in between are those of tables (C4, C8, CC). */
const FRAME_HEADS: ReadonlySet<number> = new Set([
  0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf,
]);
const SCAN = 0xda;
const BARE: ReadonlySet<number> = new Set([0x01, 0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7]);

/** Returns the largest size that any header before the image data declares. */
function pixelsOfJpeg(bytes: Buffer): number | undefined {
  let most: number | undefined;
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (BARE.has(marker)) {
      at += 2;
      continue;
    }
    if (marker === SCAN) break;
    if (FRAME_HEADS.has(marker)) most = Math.max(most ?? 0, bytes.readUInt16BE(at + 5) * bytes.readUInt16BE(at + 7));
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return most;
}

function pixelsOfWebp(bytes: Buffer): number | undefined {
  if (bytes.length < 30) return undefined;
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return (bytes.readUInt16LE(26) & 0x3fff) * (bytes.readUInt16LE(28) & 0x3fff);
    case "VP8L": {
      const sizes = bytes.readUInt32LE(21);
      return ((sizes & 0x3fff) + 1) * (((sizes >>> 14) & 0x3fff) + 1);
    }
    case "VP8X":
      return (bytes.readUIntLE(24, 3) + 1) * (bytes.readUIntLE(27, 3) + 1);
    default:
      return undefined;
  }
}
