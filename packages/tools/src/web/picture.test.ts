import { describe, expect, test } from "vitest";
import { type ReadPictureOptions, readWebPicture, WebPictures } from "./picture.ts";
import { sendTo, TestServer } from "./web.fixture.ts";

const latin = (text: string) => Buffer.from(text, "latin1");
const long = (number: number) => [number >>> 24, number >>> 16, number >>> 8, number];

function png(width: number, height: number): Buffer {
  return Buffer.concat([latin("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), Buffer.from([...long(width), ...long(height)])]);
}

const PNG = png(3, 2);
const GIF = latin("GIF89a\x03\0\x02\0;");
const JPEG = latin("\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc2\0\x0b\x08\0\x02\0\x03\x03aaa");
/** The canvas and the first image have one pixel; another image is larger. */
const GIF_OF_LARGE_IMAGES = latin(
  `GIF89a\x01\0\x01\0\x80\0\0rgbRGB!\xf9\x04abcd\0,\0\0\0\0\x01\0\x01\0\0\x02\x01a\0,\0\0\0\0\xff\xff\xff\xff\0\x02\0;`,
);
/** 0xFFC0, the apparent length after the first marker, is a frame header. Followed as a length, it leads to a small frame. */
const JPEG_OF_TWO_HEADS = Buffer.concat([
  latin("\xff\xd8\xff\x01\xff\xc0\0\x0b\x08\xff\xff\xff\xff\x03aaa".padEnd(4 + 0xffc0, "\0")),
  JPEG.subarray(9),
]);
const webp = (chunk: string) => latin(`RIFF\x20\0\0\0WEBP${chunk}`.padEnd(30, "\0"));
const WEBPS = [webp("VP8 \0\0\0\0\0\0\0\0\0\0\x03\0\x02\0"), webp("VP8L"), webp("VP8X")];

/** Fetches from this machine, which only tests allow. */
function pictureHere(url: string, options: Partial<ReadPictureOptions> = {}) {
  const { signal } = new AbortController();
  return readWebPicture(url, { allowAddress: (address) => address === "127.0.0.1", signal, ...options });
}

describe("a picture of the web", () => {
  test.each([
    ["a PNG", PNG, "image/png"],
    ["a GIF", GIF, "image/gif"],
    ["a JPEG", JPEG, "image/jpeg"],
    ...WEBPS.map((bytes) => ["a WebP", bytes, "image/webp"] as const),
  ] as const)("W59: %s is what its bytes say, whatever its server calls it", async (_, bytes, mediaType) => {
    for (const type of ["image/x-unknown", "application/octet-stream", ""]) {
      await using server = await TestServer.give(bytes, type === "" ? {} : { "content-type": type });
      const url = `${server.url}/a?b=c`;
      expect(await pictureHere(url)).toEqual({ address: url, mediaType, bytes: Buffer.from(bytes) });
    }
  });

  test("W59: a request for a picture reveals neither the user nor the page", async () => {
    await using server = await TestServer.give(PNG, { "content-type": "image/png", "set-cookie": "a=b" });
    await pictureHere(server.url);
    await pictureHere(server.url);
    for (const { method, headers } of server.received) {
      expect(method).toBe("GET");
      expect(headers).toMatchObject({ "user-agent": "Banyan", accept: expect.stringMatching(/^image\/png/) });
      for (const name of ["cookie", "referer", "origin", "authorization"]) expect(headers).not.toHaveProperty(name);
    }
    expect(server.received).toHaveLength(2);
  });

  test.each([
    ["SVG with a script", "image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`],
    ["SVG that is called PNG", "image/png", `<svg xmlns="http://www.w3.org/2000/svg"/>`],
    ["HTML", "text/html", "<!doctype html><script>alert(1)</script>"],
    ["HTML that is called PNG", "image/png", "<!doctype html><script>alert(1)</script>"],
    ["a PDF", "image/png", "%PDF-1.7 and more"],
    ["nothing", "image/png", ""],
    ["the beginning of a PNG", "image/png", PNG.subarray(0, 20)],
    ["a JPEG without a frame", "image/jpeg", JPEG.subarray(0, 8)],
    ["a GIF of no size", "image/gif", latin("GIF89a\0\0\0\0;")],
    ["a WebP of no known kind", "image/webp", webp("EXIF")],
  ])("S12: %s is no picture", async (_, type, body) => {
    await using server = await TestServer.give(body, { "content-type": type });
    await expect(pictureHere(`${server.url}/a.png`)).rejects.toMatchObject({ code: "content" });
  });

  test("S11: a picture without an end is read only up to the limit", async () => {
    let sent = 0;
    await using server = await TestServer.start((_, response) => {
      response.writeHead(200, { "content-type": "image/png" }).write(PNG);
      const more = () => {
        sent += 65_536;
        if (!response.destroyed && response.write(Buffer.alloc(65_536))) setImmediate(more);
        else response.once("drain", more);
      };
      more();
    });
    await expect(pictureHere(server.url)).rejects.toMatchObject({ code: "size" });
    expect(sent).toBeLessThan(100 * 1024 * 1024);
  });

  test("S11: a picture with too many pixels is refused, however few bytes it has", async () => {
    for (const bytes of [
      png(60_000, 60_000),
      latin("GIF89a\xff\xff\xff\xff;"),
      GIF_OF_LARGE_IMAGES,
      JPEG_OF_TWO_HEADS,
    ]) {
      await using server = await TestServer.give(bytes, { "content-type": "image/png" });
      await expect(pictureHere(server.url)).rejects.toMatchObject({ code: "size" });
    }
  });

  test.each([
    [404, "missing"],
    [410, "missing"],
    [403, "status"],
    [500, "status"],
  ])("W59: the error names the status %i", async (status, code) => {
    await using server = await TestServer.start((_, response) => response.writeHead(status).end(PNG));
    await expect(pictureHere(server.url)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(`${status}`),
    });
  });

  test("W59: the timeout ends the wait for a silent or stopped server", async () => {
    await using silent = await TestServer.start(() => {});
    await using slow = await TestServer.start((_, response) => response.writeHead(200).write(PNG));
    for (const { url } of [silent, slow])
      await expect(pictureHere(url, { timeout: 200 })).rejects.toMatchObject({ code: "time" });
  });

  test("W59: an error reports an address where no server answers", async () => {
    const gone = await TestServer.give(PNG);
    const { url } = gone;
    await gone[Symbol.asyncDispose]();
    await expect(pictureHere(url)).rejects.toMatchObject({ code: "network" });
    const resolve = () => Promise.reject(new Error("there is no network"));
    await expect(pictureHere("http://pictures.example/a.png", { resolve })).rejects.toMatchObject({ code: "network" });
  });

  test.each([
    "http://169.254.169.254/latest/meta-data",
    "http://[::1]:1/a.png",
    "http://[::ffff:127.0.0.1]/a.png",
    "http://0.0.0.0:1/a.png",
    "http://10.0.0.1/a.png",
  ])("S11: neither %s is asked, nor where a picture leads there", async (inner) => {
    await expect(pictureHere(inner)).rejects.toMatchObject({ code: "forbidden" });
    await using server = await TestServer.start((_, response) => sendTo(response, inner));
    await expect(pictureHere(server.url)).rejects.toMatchObject({ code: "forbidden" });
    expect(server.received).toHaveLength(1);
  });

  test("S11: no picture is requested from this machine", async () => {
    await using server = await TestServer.give(PNG, { "content-type": "image/png" });
    const { signal } = new AbortController();
    await expect(readWebPicture(server.url, { signal })).rejects.toMatchObject({ code: "forbidden" });
    const resolve = async () => ["127.0.0.1"];
    const named = readWebPicture(`http://pictures.example:${server.port}/`, { signal, resolve });
    await expect(named).rejects.toMatchObject({ code: "forbidden" });
    expect(server.received).toEqual([]);
  });

  test("W59: the host's own copy of a picture replaces a request, unless a rule forbids its address", async () => {
    await using other = await TestServer.give(PNG, { "content-type": "image/png" });
    await using server = await TestServer.start((_, response) => sendTo(response, `${other.url}/kept`));
    expect(await pictureHere(server.url)).toMatchObject({ address: `${other.url}/kept` });
    const asked: string[] = [];
    const whyNot = ({ href, port }: URL, named: URL) => {
      asked.push(`${href} for ${named.href}`);
      return port === `${other.port}` ? "Not there." : undefined;
    };
    await expect(pictureHere(server.url, { whyNot })).rejects.toMatchObject({ code: "rule", message: "Not there." });
    expect(asked).toEqual([`${server.url}/ for ${server.url}/`, `${other.url}/kept for ${server.url}/`]);
    expect(other.received).toHaveLength(1);
    await expect(pictureHere(other.url, { whyNot })).rejects.toMatchObject({ code: "rule" });
    expect(other.received).toHaveLength(1);
  });

  test("S11: few pictures load at once; others wait for their turn, unless their request is cancelled", async () => {
    const held: (() => void)[] = [];
    await using server = await TestServer.start((_, response) => held.push(() => response.end(PNG)));
    const pictures = new WebPictures();
    const leaving = new AbortController();
    const { signal } = new AbortController();
    const read = (signal: AbortSignal) =>
      pictures.read(server.url, { allowAddress: (address) => address === "127.0.0.1", signal });
    const first = Array.from({ length: 8 }, () => read(signal));
    const left = read(leaving.signal);
    const next = read(signal);
    await expect.poll(() => held.length).toBe(8);
    leaving.abort(new Error("left"));
    await expect(left).rejects.toThrow("left");
    held[0]?.();
    await expect.poll(() => held.length).toBe(9);
    for (const answer of held) answer();
    expect(await Promise.all([...first, next])).toHaveLength(9);
    expect(server.received).toHaveLength(9);
  });

  test("S11: a rule against an address also holds after a redirect at the same host", async () => {
    await using server = await TestServer.start((request, response) =>
      request.url === "/a" ? sendTo(response, "/private/b") : response.end(PNG),
    );
    const whyNot = ({ pathname }: URL) => (pathname.startsWith("/private/") ? "Not there." : undefined);
    await expect(pictureHere(`${server.url}/a`, { whyNot })).rejects.toMatchObject({ code: "rule" });
    expect(server.received).toHaveLength(1);
  });

  test.each(["file:///etc/passwd", "data:image/png;base64,AAAA", "/a.png", "http://me:secret@127.0.0.1/a.png"])(
    "S11: %s is no address of a picture",
    async (url) => {
      await expect(pictureHere(url)).rejects.toMatchObject({ code: "address" });
    },
  );
});
