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

/** Milliseconds that anything has to come about: a machine under load takes its time. */
const PATIENCE = 30_000;

/** Of those who may only watch. */
export const GUEST_TOKEN = "a-guest-of-a-test-0123456789-0123456789";

/** Of what a test with a browser does as a whole. */
export const PATIENT = { timeout: 6 * PATIENCE };

/** High enough that nothing scrolls by itself: messages whose end is followed would win against the scrolling of a test. */
const VIEWPORT = { width: 1280, height: 1_400 };

/** Frames in which nothing has moved, for what is seen to stand still. */
const STILL = 10;

/** A page in a window of its own, and what it said on its console. */
export interface Window {
  readonly page: Page;
  /** Errors of scripts, and what the content security policy forbade. */
  readonly complaints: readonly string[];
}

/** One server and one browser for the tests of a file. */
export class Site {
  #browser: Browser | undefined;
  #served: Served | undefined;
  #link: Link | undefined;
  /** A page is signed in at a port: a server that is started again has the same one. */
  #port = 0;
  readonly #directory = mkdtempSync(join(tmpdir(), "banyan-web-"));
  readonly #windows: Page[] = [];
  /** Browsers in which a person is signed in, for the next test: what they have loaded and compiled once they keep. */
  readonly #signedIn: BrowserContext[] = [];
  readonly #inUse: BrowserContext[] = [];
  /** The directory that agents work in, with a few files. */
  readonly workspace = join(this.#directory, "workspace");
  readonly agent: TestAgent = testAgent();

  /** The way from the browser to the server. */
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

  /** Ends the server and starts another one on the same store. */
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

  /** Opens a path in a window of a browser that was never here. */
  async stranger(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await there(this.#browser).newContext({ viewport: VIEWPORT, serviceWorkers: "block", ...options });
    context.setDefaultTimeout(PATIENCE);
    return this.#window(context, path);
  }

  /**
   * Opens a path in a window of a browser of its own, signed in. Without options it may be one that a test before signed in
   * with: it remembers nothing but that. A test that changes more of its browser than the page does, as its clock, or who is
   * signed in there, takes `{}`, and so one that was never here.
   */
  async open(path = "/", options?: BrowserContextOptions, token = TOKEN): Promise<Window> {
    const known = options === undefined ? this.#signedIn.pop() : undefined;
    const page = known ? await this.#window(known, path) : await this.stranger(path, options);
    if (options === undefined) this.#inUse.push(page.context());
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      const text = message.text();
      // A connection that a test cuts is no complaint.
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

  /** Carries out a command by HTTP, as another client would. */
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

  /** A conversation in which these texts were said, each answered before the next. */
  async conversation(...texts: readonly string[]): Promise<string> {
    const { conversation } = await this.ask("conversation.create", {});
    for (const text of texts) await this.say(conversation, text);
    return conversation;
  }

  /** Says something, and waits until nothing of the conversation runs any more. */
  async say(conversation: string, text: string, more: { readonly at?: string } = {}): Promise<string> {
    const { message } = await this.ask("turn.say", { conversation, parts: [{ type: "text", text }], ...more });
    await this.idle(conversation);
    return message;
  }

  /** Waits until no run of a conversation is live. */
  async idle(conversation: string): Promise<void> {
    for (;;) {
      const { conversations } = await this.ask("conversation.list", {});
      if (conversations.find(({ id }) => id === conversation)?.running === 0) return;
      // More often, and the server would refuse.
      await sleep(40);
    }
  }

  /** The conversation as a program exports it. */
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
   * Closes what is open in a browser, and has it forget everything but who is signed in. One page stays, empty: while it is
   * there, the next one starts in its process, where all scripts are compiled.
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

/** Signs in on the page that asks for it, as a person does, in whatever language it asks. */
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

/** A site for the tests of a file; windows end with each test, the rest with the last one. */
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

/** Looks again and again until it is as expected, or so long that it never will be. */
export function eventually<T>(look: () => T | Promise<T>) {
  return expect.poll(look, { timeout: PATIENCE });
}

/**
 * How far an element is scrolled, once it stands still: a wheel scrolls smoothly, and what comes into sight is measured.
 * In frames, for on a busy machine any time may pass between two of them.
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

/** Turns the wheel upwards over an element; returns how far it is scrolled then. */
export async function wheelUp(element: Locator, pixels: number): Promise<number> {
  await element.hover();
  // The page hears of the wheel some time after it was turned; the element scrolls from then on.
  const heard = await element.evaluateHandle((scrolled) => ({
    wheel: new Promise((resolve) => scrolled.addEventListener("wheel", resolve, { once: true, passive: true })),
  }));
  await element.page().mouse.wheel(0, -pixels);
  await heard.evaluate(({ wheel }) => wheel.then(() => {}));
  return restingPlace(element);
}

/** Stops the clock of a page: on a busy machine, a time of the page's is over when the test says so, with `page.clock`. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.install();
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1_000));
}

/** The box in which a person writes. */
export function composer(page: Page) {
  return page.getByRole("textbox", { name: "Message", exact: true });
}

/** Writes a message and sends it. */
export async function write(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press("Enter");
}

/** The messages of the branch in view. */
export function articles(page: Page) {
  return page.getByRole("log").getByRole("article");
}
