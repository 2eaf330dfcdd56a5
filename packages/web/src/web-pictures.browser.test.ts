import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, eventually, GUEST_TOKEN, PATIENT, site } from "./testing/site.fixture.ts";
import { png, WIDE, webOfPictures } from "./testing/web-of-pictures.fixture.ts";

/** Longer than a line of the page. */
const QUERY = `?secret=${"a".repeat(200)}&end`;

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>parent.harmed = true</script></svg>`;
const HTML = "<!doctype html><script>top.harmed = true</script>";

const group = (page: Page) => page.getByRole("log").getByRole("group");

describe.runIf(chromiumPath)(`pictures of the web${whyNot}`, PATIENT, () => {
  const here = site();

  /** The requests of a page to hosts other than its server. */
  function foreign(page: Page): readonly string[] {
    const asked: string[] = [];
    page.on("request", (request) => {
      const { protocol, host, href } = new URL(request.url());
      if (protocol !== "data:" && host !== here.link.host) asked.push(href);
    });
    return asked;
  }

  it("W59, S12: one is shown after a click that names its host, with where it is from; nothing is asked before, nor after a reload", async () => {
    await using web = await webOfPictures();
    web.has("/wide.png", (response) => response.end(WIDE));
    const address = `http://${web.host}/wide.png${QUERY}`;
    const conversation = await here.conversation(`![a sea](${address} "At noon")`);
    const { page, complaints } = await here.open(`/c/${conversation}`);
    const asked = foreign(page);
    const show = page.getByRole("button", { name: `Show image from ${web.host}` });
    await show.waitFor();
    const offered = group(page);
    expect(await offered.innerText()).toContain("a sea “At noon”");
    // A long address is shortened in the middle, and can be shown whole before any request.
    expect(await offered.innerText()).toMatch(/\/wide\.png\?secret=a+…a+&end/);
    expect(await offered.innerText()).not.toContain(address);
    await offered.getByRole("button", { name: `Full address (${address.length} characters)` }).click();
    expect(await offered.innerText()).toContain(address);
    expect(await page.getByRole("log").locator("img").count()).toBe(0);
    expect(web.asked).toEqual([]);

    // The image's space has its final size at once (W54).
    await page.evaluate(() => {
      new MutationObserver((_, observer) => {
        const image = document.querySelector<HTMLImageElement>("article img");
        if (!image) return;
        observer.disconnect();
        const { width, height } = image.getBoundingClientRect();
        Object.assign(window, { atFirst: [width, height] });
      }).observe(document.body, { subtree: true, childList: true });
    });
    await show.press("Enter");
    const picture = page.getByRole("log").getByRole("img", { name: "a sea" });
    await picture.waitFor();
    expect(await page.evaluate(() => (window as unknown as { atFirst: number[] }).atFirst)).toEqual([40, 20]);
    expect(await picture.evaluate((it: HTMLImageElement) => [it.naturalWidth, it.width, it.height])).toEqual([
      40, 40, 20,
    ]);
    await eventually(() => group(page).evaluate((it) => it === document.activeElement)).toBe(true);
    expect(await group(page).innerText()).toContain(`From ${web.host}`);
    expect(web.asked).toEqual([`/wide.png${QUERY}`]);

    // After coming back, the image is still there, without another request.
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.waitForURL(({ pathname }) => !pathname.includes(conversation));
    await page.goBack();
    await picture.waitFor();
    expect(web.asked).toHaveLength(1);

    await page.reload();
    await show.waitFor();
    expect(await picture.count()).toBe(0);
    expect(web.asked).toHaveLength(1);

    // The printed page has the whole address and no button.
    await page.emulateMedia({ media: "print" });
    expect(await show.isVisible()).toBe(false);
    await page.getByText(`[image: a sea “At noon” at ${address}]`).waitFor();
    expect(asked).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("W59: a failed image shows the reason and a retry button; an image inside a link appears after the link", async () => {
    await using web = await webOfPictures();
    const conversation = await here.conversation(`[![a badge](http://${web.host}/badge.png)](https://example.org/x)`);
    const { page, complaints } = await here.open(`/c/${conversation}`);
    const link = page.getByRole("log").getByRole("link", { name: "a badge" });
    expect(await link.getAttribute("href")).toBe("https://example.org/x");
    expect(await link.getByRole("button").count()).toBe(0);
    await page.getByRole("button", { name: `Show image from ${web.host}` }).click();
    await page.getByRole("status").getByText("There is no image at this address.").waitFor();
    web.has("/badge.png", (response) => response.writeHead(503).end());
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("status").getByText(`${web.host} refused the request.`).waitFor();
    web.has("/badge.png", (response) => response.end(WIDE.subarray(0, 40)));
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("status").getByText("This is not an image").waitFor();
    web.has("/badge.png", (response) => response.end(WIDE));
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("log").getByRole("img", { name: "a badge" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("W59, S11, S12: a false picture runs no code, reaches no other host, and fills no memory", async () => {
    await using web = await webOfPictures();
    await using inner = await webOfPictures();
    const innerPort = inner.host.split(":")[1];
    const sent = { endless: 0 };
    const attacks: Readonly<Record<string, readonly [string, Parameters<typeof web.has>[1]]>> = {
      "/script.svg": ["not an image", (it) => it.writeHead(200, { "content-type": "image/svg+xml" }).end(SVG)],
      "/svg.png": ["not an image", (it) => it.writeHead(200, { "content-type": "image/png" }).end(SVG)],
      "/html.png": ["not an image", (it) => it.writeHead(200, { "content-type": "image/png" }).end(HTML)],
      "/page.png": ["not an image", (it) => it.writeHead(200, { "content-type": "text/html" }).end(HTML)],
      "/cloud.png": [
        "private network",
        (it) => it.writeHead(302, { location: "http://169.254.169.254/latest/" }).end(),
      ],
      "/inner.png": [
        "private network",
        (it) => it.writeHead(302, { location: `http://[::ffff:127.0.0.1]:${innerPort}/` }).end(),
      ],
      "/file.png": [
        "are fetched, not|not fetched",
        (it) => it.writeHead(302, { location: "file:///etc/passwd" }).end(),
      ],
      "/round.png": ["redirects to an address", (it) => it.writeHead(302, { location: "/round.png" }).end()],
      "/endless.png": [
        "too large",
        (it) => {
          it.writeHead(200, { "content-type": "image/png", "content-length": 2 ** 30 }).write(WIDE);
          const more = () => {
            if (it.destroyed || sent.endless >= 2 ** 30) return;
            sent.endless += 2 ** 16;
            if (it.write(Buffer.alloc(2 ** 16))) setImmediate(more);
            else it.once("drain", more);
          };
          more();
        },
      ],
      "/bomb.png": [
        "too large",
        (it) => {
          // A header that claims 3,600 million pixels, with data for a few.
          const bomb = Buffer.from(WIDE);
          bomb.writeUInt32BE(60_000, 16);
          bomb.writeUInt32BE(60_000, 20);
          it.end(bomb);
        },
      ],
    };
    const paths = Object.keys(attacks);
    for (const [path, [, answer]] of Object.entries(attacks)) web.has(path, answer);
    const conversation = await here.conversation(
      paths.map((path) => `![${path}](http://${web.host}${path})`).join(" "),
    );
    const { page, complaints } = await here.open(`/c/${conversation}`);
    const asked = foreign(page);
    await eventually(() => group(page).count()).toBe(paths.length);
    for (const [index, [sentence]] of Object.values(attacks).entries()) {
      await group(page).nth(index).getByRole("button", { name: /^Show/ }).click();
      await eventually(() => group(page).nth(index).getByRole("status").innerText()).toMatch(new RegExp(sentence));
    }
    expect(await page.getByRole("log").locator("img, svg[width], iframe, object").count()).toBe(0);
    expect(await page.evaluate(() => "harmed" in window)).toBe(false);
    expect(inner.asked).toEqual([]);
    expect(sent.endless).toBeLessThan(2 ** 27);
    expect(asked).toEqual([]);

    // Another site in the same browser has the cookie, but cannot make the server load an image.
    web.has("/site", (response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>A site</p>"));
    web.has("/wanted.png", (response) => response.end(WIDE));
    const other = await page.context().newPage();
    await other.goto(`http://${web.host}/site`);
    const body = JSON.stringify({ type: "picture.read", id: "by-a-site", url: `http://${web.host}/wanted.png` });
    const ways = await other.evaluate(
      async ([server, command]) => {
        const send = (mode: RequestMode) =>
          fetch(`${server}/api/v1/commands`, { method: "POST", credentials: "include", mode, body: command }).then(
            ({ type, status }) => `${type} ${status}`,
            () => "refused",
          );
        return [await send("no-cors"), await send("cors")];
      },
      [`http://${here.link.host}`, body] as const,
    );
    expect(ways).toEqual(["refused", "refused"]);
    await other.close();
    expect(web.asked).not.toContain("/wanted.png");
    expect(complaints).toEqual([]);
  });

  it("W45, W59: on a small screen no name and no address is too long, nor a picture too wide", async () => {
    await using web = await webOfPictures();
    web.has("/wide.png", (response) => response.end(png(2_000, 500)));
    const host = `${"a".repeat(60)}.`.repeat(3).concat("example");
    const conversation = await here.conversation(
      `![${"word".repeat(40)}](http://${host}/${"b".repeat(300)}) | ![a sea](http://${web.host}/wide.png)`,
    );
    const { page } = await here.open(`/c/${conversation}`, { viewport: { width: 320, height: 700 } });
    await page.getByRole("button", { name: `Show image from ${host}` }).waitFor();
    await page.getByRole("button", { name: /^Full address/ }).click();
    const right = () =>
      group(page).evaluateAll((all) =>
        Math.max(
          ...all.flatMap((it) => [it, ...it.querySelectorAll("*")]).map((it) => it.getBoundingClientRect().right),
        ),
      );
    expect(await right()).toBeLessThanOrEqual(320);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    await page.getByRole("button", { name: `Show image from ${web.host}` }).click();
    const picture = page.getByRole("log").getByRole("img", { name: "a sea" });
    await picture.waitFor();
    const [width, height] = await picture.evaluate((it: HTMLImageElement) => [it.width, it.height]);
    expect(width).toBeLessThan(320);
    expect(Math.round((width ?? 0) / (height ?? 1))).toBe(4);
    // The printed page shows the image and its text.
    await page.emulateMedia({ media: "print" });
    expect(await picture.isVisible()).toBe(true);
    await page.getByText(`[image: a sea at http://${web.host}/wide.png]`).waitFor();
  });

  it("W59, S28: a guest, and who has a link, read of it in words, and have no button", async () => {
    await using web = await webOfPictures();
    web.has("/wide.png", (response) => response.end(WIDE));
    const words = `[image: a sea at http://${web.host}/wide.png]`;
    const conversation = await here.conversation(`![a sea](http://${web.host}/wide.png)`);
    const guest = await here.open(`/c/${conversation}`, {}, GUEST_TOKEN);
    await articles(guest.page).last().getByText(words).waitFor();
    const { token } = await here.ask("share.create", { conversation });
    const linked = await here.stranger(`/?token=${token}`);
    await articles(linked).last().getByText(words).waitFor();
    for (const page of [guest.page, linked]) {
      expect(await page.getByRole("button", { name: /Show image/ }).count()).toBe(0);
      expect(await page.getByRole("log").locator("img").count()).toBe(0);
    }
    expect(web.asked).toEqual([]);
  });
});
