import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { TOKEN } from "@banyan/server/testing";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { readPageAddress } from "./parts/browser/address.ts";
import { faultsOf } from "./testing/axe.fixture.ts";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, signIn, site, write } from "./testing/site.fixture.ts";

const field = (page: Page) => page.getByLabel("Token", { exact: true });

/** Another server on another port of this machine, and the cookies that browsers send to it. */
async function anotherServer(body: string) {
  const cookies: string[] = [];
  const server = createServer((request, response) => {
    cookies.push(request.headers.cookie ?? "");
    response.setHeader("content-type", "text/html");
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, cookies };
}

/** Removes the key of a sign-in from the browser, but not the cookie. */
function loseKey(page: Page): Promise<void> {
  return page.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const gone = indexedDB.deleteDatabase("banyan");
        gone.onsuccess = () => resolve();
        gone.onerror = () => reject(gone.error);
      }),
  );
}

describe.runIf(chromiumPath)(`sign-in to the page${whyNot}`, PATIENT, () => {
  const here = site();
  const at = (path: string) => `http://${here.link.host}${path}`;

  it("W52: without a sign-in, the page asks for a token, reports a wrong token, and then opens the wanted view", async () => {
    const conversation = await here.conversation("hello");
    const page = await here.stranger(`/c/${conversation}?panel=none`);
    await page.getByText("Not signed in").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await field(page).fill("a-wrong-token");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").filter({ hasText: "Wrong token for this server" }).waitFor();
    // The whole address, as printed.
    await signIn(page, here.served.server.pageAddress);
    await articles(page).last().waitFor();
    expect(page.url()).toContain(at(`/c/${conversation}?`));
    expect(readPageAddress(new URL(page.url()))).toMatchObject({ conversation, panel: "none" });
  });

  it("S3, S20: the address of banyan serve signs in; afterwards the token is nowhere in the browser, and the key cannot be read", async () => {
    const page = await here.stranger(`/?token=${TOKEN}`);
    await page.getByRole("button", { name: "New conversation" }).first().waitFor();
    expect(page.url()).toBe(at("/"));
    const kept = await page.evaluate(async () => {
      const database = await new Promise<IDBDatabase>((resolve) => {
        const asked = indexedDB.open("banyan");
        asked.onsuccess = () => resolve(asked.result);
      });
      const key = await new Promise<CryptoKey>((resolve) => {
        const asked = database.transaction("keys").objectStore("keys").get("page");
        asked.onsuccess = () => resolve(asked.result);
      });
      const read = await crypto.subtle.exportKey("raw", key).then(
        () => "read",
        (error: Error) => error.name,
      );
      const stored = JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state]);
      return { read, stored, isExtractable: key.extractable };
    });
    expect(kept).toMatchObject({ read: "InvalidAccessError", isExtractable: false });
    expect(kept.stored).not.toContain(TOKEN);
    expect(kept.stored).not.toMatch(/[\w-]{43}/);
    await page.goBack();
    expect(page.url()).not.toContain(TOKEN);
  });

  it("S20: a reload and a second window stay signed in; without the key a browser must sign in again, with any cookie", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open(`/c/${conversation}`, {});
    await page.reload();
    await articles(page).last().waitFor();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await articles(other).last().waitFor();
    await loseKey(page);
    await page.reload();
    await field(page).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await signIn(page, TOKEN);
    await articles(page).last().waitFor();
  });

  it("S20, W52: a page with an expired token asks for a new token, and keeps unsent text", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open(`/c/${conversation}`, {});
    await composer(page).fill("not sent yet");
    const token = "another-token-of-a-test-0123456789-0123456789";
    await here.restart({ token });
    onTestFinished(() => here.restart());
    await field(page).waitFor();
    await signIn(page, token);
    await eventually(() => composer(page).inputValue()).toBe("not sent yet");
  });

  it("S20: another port of this machine gets the cookie, but no access with it", async () => {
    const conversation = await here.conversation("a secret of the owner");
    const { page } = await here.open(`/c/${conversation}`, {});
    await articles(page).last().waitFor();
    const before = await here.exported(conversation);
    const other = await anotherServer("<title>Another</title>");
    const there = await page.context().newPage();
    await there.goto(other.address);
    // Another port is the same site: the browser sends the cookie, which must therefore be worth nothing.
    const cookie = other.cookies.find((sent) => sent.includes("banyan-")) ?? "";
    expect(cookie).toMatch(/banyan-\d+=/);
    const id = "0123456789abcdefghijklmnop";
    const command = { type: "conversation.rename", id, conversation, title: "Taken over" };
    for (const origin of [here.served.server.address, at("")]) {
      const headers = { cookie, origin, "sec-fetch-site": "same-origin", "content-type": "application/json" };
      const send = (path: string, init: RequestInit = {}) => fetch(`${origin}${path}`, { ...init, headers });
      for (const path of [
        "conversations",
        `conversations/${conversation}/export`,
        `conversations/${conversation}/feed`,
      ])
        expect((await send(`/api/v1/${path}`)).status, path).toBe(401);
      expect((await send("/api/v1/commands", { method: "POST", body: JSON.stringify(command) })).status).toBe(401);
      expect(await (await send(`/c/${conversation}`)).text()).not.toContain("secret of the owner");
    }
    // From the other server's page, with everything that a page can do.
    const tried = await there.evaluate(
      async ([server, wanted, sent]) => {
        const outcomes: string[] = [];
        const seen = (what: string, value: unknown) => void outcomes.push(`${what}: ${value}`);
        for (const path of [`/c/${wanted}`, "/api/v1/conversations", `/api/v1/conversations/${wanted}/export`]) {
          for (const mode of ["cors", "no-cors"] as const) {
            const answer = await fetch(`${server}${path}`, { mode, credentials: "include" }).catch(() => undefined);
            if (answer && (answer.type !== "opaque" || (await answer.text()) !== ""))
              seen(`fetch ${mode}`, answer.status);
          }
          await fetch(`${server}/api/v1/commands`, {
            method: "POST",
            mode: "no-cors",
            credentials: "include",
            body: sent,
          }).catch(() => undefined);
          for (const tag of ["iframe", "img", "script", "embed", "object"] as const) {
            const element = document.createElement(tag);
            const loaded = new Promise((resolve) => {
              element.addEventListener("load", () => resolve("load"));
              element.addEventListener("error", () => resolve("error"));
              setTimeout(resolve, 1_000, "nothing");
            });
            element.setAttribute(tag === "object" ? "data" : "src", `${server}${path}`);
            document.body.append(element);
            // The content of frames is checked from outside: a browser replaces a refused page by its own.
            if ((await loaded) === "load" && (tag === "img" || tag === "script")) seen(tag, "loaded");
            const inside = (element as HTMLIFrameElement).contentDocument?.body?.innerText ?? "";
            if (/secret|Taken/.test(inside)) seen(tag, inside);
          }
        }
        const socket = new WebSocket(`${server.replace("http", "ws")}/api/v1/socket`);
        await new Promise<void>((resolve) => {
          socket.onopen = () => seen("socket", "opened");
          socket.onclose = () => resolve();
        });
        const opened = window.open(`${server}/c/${wanted}`);
        await new Promise((resolve) => setTimeout(resolve, 500));
        try {
          seen("opened window", opened?.document.body.innerText);
        } catch {
          // The window has another origin.
        }
        opened?.close();
        const form = document.createElement("form");
        Object.assign(form, { action: `${server}/api/v1/commands`, method: "post", enctype: "text/plain" });
        form.target = "_blank";
        const box = document.createElement("input");
        Object.assign(box, { name: sent, value: "" });
        form.append(box);
        document.body.append(form);
        form.submit();
        const databases = (await indexedDB.databases()).map(({ name }) => name);
        if (databases.includes("banyan")) seen("storage", databases);
        return outcomes;
      },
      [at(""), conversation, JSON.stringify(command)] as const,
    );
    expect(tried).toEqual([]);
    for (const frame of there.frames()) {
      const shown = await frame.locator("body").innerText();
      expect(shown).not.toMatch(/secret of the owner|Sign in|New conversation/);
    }
    expect(await here.exported(conversation)).toBe(before);
    // The owner's page still works.
    await write(page, "still mine");
    await eventually(() => articles(page).last().innerText()).toContain("still mine");
  });

  it("S20: a foreign page that shows 25 wrong tokens in frames, windows and pictures locks nobody out", async () => {
    const other = await anotherServer("<title>Another</title>");
    const page = await here.stranger("/");
    await page.goto(other.address.replace("127.0.0.1", "localhost"));
    await page.evaluate(async (server) => {
      const sent: Promise<unknown>[] = [];
      for (let count = 0; count < 25; count++) {
        const address = `${server}/?token=wrong-${count}`;
        const frame = document.createElement("iframe");
        frame.src = address;
        const picture = new Image();
        picture.src = address;
        document.body.append(frame, picture);
        const post = { method: "POST", mode: "no-cors", body: `{"token":"wrong"}` } as const;
        sent.push(fetch(address, { mode: "no-cors", credentials: "include" }), fetch(`${server}/api/v1/sign-in`, post));
      }
      await Promise.allSettled(sent);
      for (let count = 0; count < 5; count++) window.open(`${server}/?token=wrong-${count}`);
    }, at(""));
    for (const opened of page.context().pages().slice(1)) await opened.close();
    await page.goto(at("/"));
    await signIn(page, TOKEN);
    await page.getByRole("button", { name: "New conversation" }).first().waitFor();
  });

  it("S20: a link of another site opens the page for a signed-in user, and gives the site no access", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open("/", {});
    const link = `${at(`/c/${conversation}`)}?panel=none`;
    const other = await anotherServer(`<a href="${link}">There</a> <a href="${at(`/?token=${TOKEN}`)}">In</a>`);
    const outside = await page.context().newPage();
    await outside.goto(other.address.replace("127.0.0.1", "localhost"));
    await outside.getByRole("link", { name: "There" }).click();
    await articles(outside).last().waitFor();
    const stranger = await here.stranger("/");
    await stranger.goto(other.address.replace("127.0.0.1", "localhost"));
    await stranger.getByRole("link", { name: "In" }).click();
    await stranger.getByText("from another page is not accepted").waitFor();
    expect(await stranger.context().cookies(at(""))).toEqual([]);
  });
});
