import { expect, test } from "vitest";
import { pictureProblem } from "./pictures.ts";

const RULES = { side: 8_000, bytes: 1_000, most: 10, crowd: { above: 20, side: 2_000 } };
const file = (bytes: Buffer) => ({ type: "file" as const, mediaType: "image/png", data: bytes.toString("base64") });

/** A header with 2-byte numbers at their places. */
function header(begin: string, numbers: Readonly<Record<number, number>>, order: "LE" | "BE"): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.write(begin, "latin1");
  for (const [at, value] of Object.entries(numbers)) bytes[`writeUInt16${order}`](value, Number(at));
  return bytes;
}

// JPEG: a comment of 6 bytes, then the first frame. WebP: RIFF, its size, the kind of its chunk.
const SIZES = [
  ["PNG", (width: number, height: number) => header("\x89PNG\r\n\x1a\n", { 18: width, 22: height }, "BE")],
  ["GIF", (width: number, height: number) => header("GIF89a", { 6: width, 8: height }, "LE")],
  [
    "JPEG",
    (width: number, height: number) =>
      header("\xff\xd8\xff\xfe\x00\x06abcd\xff\xff\xc2\x00\x11\x08", { 16: height, 18: width }, "BE"),
  ],
  ["WebP", (width: number, height: number) => header("RIFF....WEBPVP8 ", { 26: width, 28: height }, "LE")],
  [
    "WebP with more",
    (width: number, height: number) => header("RIFF....WEBPVP8X", { 24: width - 1, 27: height - 1 }, "LE"),
  ],
] as const;

test.each(SIZES)("F47: width and height of a picture are read from its header: %s", (_, of) => {
  expect(pictureProblem(file(of(8_000, 8_000)), RULES, 1)).toBeUndefined();
  expect(pictureProblem(file(of(8_001, 10)), RULES, 1)).toContain(
    "8001 × 10 pixels, and the provider takes 8000 per side",
  );
  expect(pictureProblem(file(of(10, 8_001)), RULES, 1)).toContain("10 × 8001 pixels");
  expect(pictureProblem(file(of(10, 2_001)), RULES, 21)).toContain("2000 per side of a picture among more than 20");
});

test("F47: the error names a picture with too many bytes and its size; the provider judges other files", () => {
  expect(pictureProblem(file(Buffer.alloc(1_500_000)), { ...RULES, bytes: 1_000_000 }, 1)).toBe(
    "it has 1.5 MB, and the provider takes 1 MB",
  );
  for (const data of ["", "????", "iVBORw0KGgo=", "/9j/"]) {
    expect(pictureProblem({ type: "file", mediaType: "image/png", data }, RULES, 1)).toBeUndefined();
  }
});
