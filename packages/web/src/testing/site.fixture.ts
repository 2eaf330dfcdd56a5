import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createId } from "@banyan/core/conversation";
import type { Command, CommandName, Result } from "@banyan/protocol";
import { type Served, served, TOKEN } from "@banyan/server/testing";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type TestAgent, testAgent } from "./agent.fixture.ts";
import { builtPage } from "./built-page.fixture.ts";
import { chromiumPath } from "./chromium.fixture.ts";
import { type Link, openLink } from "./link.fixture.ts";
import { steadyPort } from "./port.fixture.ts";
import { pictureHere } from "./web-of-pictures.fixture.ts";

/** Milliseconds to wait for any event: a busy machine is slow. */
const PATIENCE = 30_000;

/** The token of guests, who may only watch. */
export const GUEST_TOKEN = "a-guest-of-a-test-0123456789-0123456789";

/** The timeout of a whole browser test. */
export const PATIENT = { timeout: 6 * PATIENCE };

/** High enough to avoid scrolling: following the end of messages would compete with the test's scrolling. */
const VIEWPORT = { width: 1280, height: 1_400 };

/** Frames without movement after which the view counts as still. */
const STILL = 10;

/** A page in its own window, with its console errors. */
export interface Window {
  readonly page: Page;
  /** Script errors, and violations of the content security policy. */
  readonly complaints: readonly string[];
}

/** One server and one browser for the tests of a file. */
export class Site {
  #browser: Browser | undefined;
  #served: Served | undefined;
  #link: Link | undefined;
  /** The page's sign-in depends on the port: a restarted server keeps it. */
  #port = 0;
  readonly #directory = mkdtempSync(join(tmpdir(), "banyan-web-"));
  readonly #windows: Page[] = [];
  /** Signed-in browsers for the next test, which keep loaded and compiled scripts. */
  readonly #signedIn: BrowserContext[] = [];
  readonly #inUse: BrowserContext[] = [];
  /** The directory that agents work in, with a few files. */
  readonly workspace = join(this.#directory, "workspace");
  readonly agent: TestAgent = testAgent();

  /** The proxy between browser and server. */
  get link(): Link {
    return there(this.#link);
  }

  get served(): Served {
    return there(this.#served);
  }

  async start(): Promise<void> {
    mkdirSync(join(this.workspace, "src"), { recursive: true });
    for (const file of ["read me.md", "src/sum.ts", "src/sum.test.ts"]) writeFileSync(join(this.workspace, file), "");
    const page = await builtPage();
    this.#link = await openLink();
    this.#port = await steadyPort();
    await this.#serve(page);
    this.#browser = await chromium.launch({
      ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--process-per-site"],
    });
  }

  /** Restarts the server on the same store. */
  async restart(more: { readonly token?: string } = {}): Promise<void> {
    await this.served[Symbol.asyncDispose]();
    await this.#serve(await builtPage(), more);
  }

  async #serve(page: string, more: { readonly token?: string } = {}): Promise<void> {
    const { options, models } = this.agent;
    const { workspace } = this;
    const port = this.#port;
    const directory = join(this.#directory, "data");
    const place = { directory, workspace, models, page, port, picture: pictureHere, allowedHosts: [this.link.host] };
    this.#served = await served(options, { ...place, guestToken: GUEST_TOKEN, ...more });
    this.link.to(this.#served.server.address);
  }

  /** Opens a path in a new browser. */
  async stranger(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await there(this.#browser).newContext({ viewport: VIEWPORT, serviceWorkers: "block", ...options });
    context.setDefaultTimeout(PATIENCE);
    return this.#window(context, path);
  }

  /**
   * Opens a path in a signed-in browser. Without options, the browser may come from an earlier test, from which it keeps only the
   * sign-in. A test that changes more of the browser, such as its clock or its user, passes `{}` for a new one.
   */
  async open(path = "/", options?: BrowserContextOptions, token = TOKEN): Promise<Window> {
    const known = options === undefined ? this.#signedIn.pop() : undefined;
    const page = known ? await this.#window(known, path) : await this.stranger(path, options);
    if (options === undefined) this.#inUse.push(page.context());
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      const text = message.text();
      // Connections that a test cuts are no complaint.
      if (message.type() === "error" && !/WebSocket|ERR_/.test(text)) complaints.push(text);
    });
    if (!known) await signIn(page, token);
    return { page, complaints };
  }

  async #window(context: BrowserContext, path: string): Promise<Page> {
    const left = context.pages();
    const page = await context.newPage();
    this.#windows.push(page);
    await page.goto(`http://${this.link.host}${path}`);
    for (const empty of left) await empty.close();
    return page;
  }

  /** Sends a command over HTTP, like another client. */
  async ask<Name extends CommandName>(
    type: Name,
    input: Omit<Command<Name>, "type" | "id"> & { readonly id?: string },
  ): Promise<Result<Name>> {
    const response = await fetch(`${this.served.server.address}/api/v1/commands`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ type, id: createId(), ...input }),
    });
    if (!response.ok) throw new Error(`${type}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Result<Name>;
  }

  /** Creates a conversation with these messages, each answered before the next. */
  async conversation(...texts: readonly string[]): Promise<string> {
    const { conversation } = await this.ask("conversation.create", {});
    for (const text of texts) await this.say(conversation, text);
    return conversation;
  }

  /** Sends a message, and waits until the conversation has no run. */
  async say(conversation: string, text: string, more: { readonly at?: string } = {}): Promise<string> {
    const { message } = await this.ask("turn.say", { conversation, parts: [{ type: "text", text }], ...more });
    await this.idle(conversation);
    return message;
  }

  /** Waits until a conversation has no run. */
  async idle(conversation: string): Promise<void> {
    for (;;) {
      const { conversations } = await this.ask("conversation.list", {});
      if (conversations.find(({ id }) => id === conversation)?.running === 0) return;
      // A higher rate would be refused.
      await sleep(40);
    }
  }

  /** The conversation's export. */
  async exported(conversation: string): Promise<string> {
    return (await this.ask("conversation.export", { conversation, format: "json" })).text;
  }

  /** Closes the windows of a test. */
  async closeWindows(): Promise<void> {
    const kept = this.#inUse.splice(0);
    for (const page of this.#windows.splice(0)) {
      if (!kept.includes(page.context())) await page.context().close();
    }
    for (const context of kept) await this.#giveBack(context);
  }

  /**
   * Closes the windows of a browser and clears everything except the sign-in. One empty page stays: it keeps the process alive,
   * in which all scripts are compiled.
   */
  async #giveBack(context: BrowserContext): Promise<void> {
    const [page, ...others] = context.pages();
    if (!page) return context.close();
    for (const other of others) await other.close();
    await page.goto("about:blank");
    const devtools = await context.newCDPSession(page);
    const what = { origin: `http://${this.link.host}`, storageTypes: "local_storage" };
    await devtools.send("Storage.clearDataForOrigin", what);
    await devtools.detach();
    await context.clearPermissions();
    this.#signedIn.push(context);
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    await this.#served?.[Symbol.asyncDispose]();
    await this.#link?.[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Signs in on the sign-in page, in any language. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.locator("input[name=token]").fill(token);
  await page.locator("button[type=submit]").click();
  await page.locator("#page").waitFor({ state: "attached" });
  await page.waitForLoadState();
}

function there<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Error("The site has not been started.");
  return thing;
}

/** A site for the tests of a file. Windows close after each test, the rest after the last one. */
export function site(): Site {
  const site = new Site();
  beforeAll(() => site.start(), PATIENT.timeout);
  afterEach(async () => {
    site.agent.release();
    site.link.mend();
    await site.closeWindows();
  }, PATIENT.timeout);
  afterAll(() => site.stop(), PATIENT.timeout);
  return site;
}

/** Polls until the expectation holds, or the time is over. */
export function eventually<T>(look: () => T | Promise<T>) {
  return expect.poll(look, { timeout: PATIENCE });
}

/**
 * The scroll position of an element when it rests: wheels scroll smoothly, and new rows are measured. Counts frames, because on a
 * busy machine the time between two frames varies.
 */
export function restingPlace(element: Locator): Promise<number> {
  return element.evaluate(async (scrolled, still) => {
    let place = scrolled.scrollTop;
    for (let frames = 0; frames < still; frames++) {
      await new Promise(requestAnimationFrame);
      if (scrolled.scrollTop === place) continue;
      place = scrolled.scrollTop;
      frames = 0;
    }
    return place;
  }, STILL);
}

/** Turns the wheel upwards over an element. Returns the scroll position afterwards. */
export async function wheelUp(element: Locator, pixels: number): Promise<number> {
  await element.hover();
  // The page receives the wheel event later, and scrolls only then.
  const heard = await element.evaluateHandle((scrolled) => ({
    wheel: new Promise((resolve) => scrolled.addEventListener("wheel", resolve, { once: true, passive: true })),
  }));
  await element.page().mouse.wheel(0, -pixels);
  await heard.evaluate(({ wheel }) => wheel.then(() => {}));
  return restingPlace(element);
}

/** Stops the page's clock, so that the test controls all timers with `page.clock`, even on a busy machine. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.install();
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1_000));
}

/** The message box. */
export function composer(page: Page) {
  return page.getByRole("textbox", { name: "Message", exact: true });
}

/** Types and sends a message. */
export async function write(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press("Enter");
}

/** The messages of the branch in view. */
export function articles(page: Page) {
  return page.getByRole("log").getByRole("article");
}
