import type { FilePart } from "../../conversation/part.ts";
import type { ModelDriver } from "../../ports/model.ts";
import type { PictureRules } from "./rules.ts";

interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** Base 64 characters that contain the header of an image. */
const HEADER = 4 * 32_768;

const sizes = new WeakMap<FilePart, PictureSize | undefined>();

export function isPictureFile({ mediaType, data }: FilePart): boolean {
  return data !== undefined && mediaType.startsWith("image/");
}

/** Returns the reason why a provider would refuse an image, as the end of a sentence. */
export function pictureProblem(file: FilePart, rules: PictureRules, pictures: number): string | undefined {
  if (rules.most === 0) return "the provider takes no pictures";
  const kind = file.mediaType.slice("image/".length);
  const { kinds = [kind], bytes: most = Number.POSITIVE_INFINITY, pixels = Number.POSITIVE_INFINITY } = rules;
  if (!kinds.includes(kind)) return `it is ${file.mediaType}, and the provider takes ${kinds.join(", ")}`;
  const bytes = Math.floor(((file.data?.length ?? 0) * 3) / 4);
  if (bytes > most) return `it has ${inMegabytes(bytes)}, and the provider takes ${inMegabytes(most)}`;
  const { crowd } = rules;
  const isCrowded = crowd !== undefined && pictures > crowd.above;
  const side = isCrowded ? crowd.side : rules.side;
  if (side === undefined && rules.pixels === undefined) return undefined;
  const size = pictureSize(file);
  if (size && size.width * size.height > pixels)
    return `it has ${size.width} × ${size.height} pixels, and the provider takes ${pixels} in all`;
  if (!size || side === undefined || Math.max(size.width, size.height) <= side) return undefined;
  const among = isCrowded ? ` of a picture among more than ${crowd.above}` : "";
  return `it has ${size.width} × ${size.height} pixels, and the provider takes ${side} per side${among}`;
}

/** Returns the reason why a model's provider never accepts a file. Nothing if the model has no rules for files. */
export function untakenFileProblem(model: object, file: FilePart): string | undefined {
  const { pictureProblem: judge } = model as Pick<ModelDriver, "pictureProblem">;
  return judge?.(file);
}

function inMegabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1).replace(/\.0$/, "")} MB`;
}

function pictureSize(file: FilePart): PictureSize | undefined {
  if (sizes.has(file)) return sizes.get(file);
  const size = pictureDimensions(file.data ?? "");
  sizes.set(file, size);
  return size;
}

/** Returns width and height from the header of a PNG, JPEG, GIF or WebP, whatever its media type. */
function pictureDimensions(data: string): PictureSize | undefined {
  let header: string;
  try {
    header = atob(data.slice(0, HEADER));
  } catch {
    // Not base 64: the provider reports the error.
    return undefined;
  }
  const bytes = Uint8Array.from(header, (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  try {
    if (header.startsWith("\x89PNG\r\n\x1a\n")) return { width: view.getUint32(16), height: view.getUint32(20) };
    if (/^GIF8[79]a/.test(header)) return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
    if (header.startsWith("RIFF") && header.startsWith("WEBP", 8)) return webpSize(header.slice(12, 16), view);
    if (header.startsWith("\xff\xd8")) return jpegSize(view);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return undefined;
}

function webpSize(kind: string, view: DataView): PictureSize | undefined {
  const of24 = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16);
  if (kind === "VP8X") return { width: of24(24) + 1, height: of24(27) + 1 };
  if (kind === "VP8L") {
    const bits = view.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (kind === "VP8 ") return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  return undefined;
}

/** The first frame has the size: markers 0xC0 to 0xCF, except three for tables. */
function jpegSize(view: DataView): PictureSize | undefined {
  for (let at = 2; ; ) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) at++;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) at += 2;
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    else at += 2 + view.getUint16(at + 2);
  }
}
