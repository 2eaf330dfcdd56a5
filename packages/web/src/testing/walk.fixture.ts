import { TOKEN } from "@banyan/server/testing";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { chromiumPath } from "./chromium.fixture.ts";
import { Stage, WATCHING } from "./stage.fixture.ts";
import type { State } from "./state.fixture.ts";
import { STATES } from "./states.fixture.ts";
import { branches } from "./tales.fixture.ts";

type Who = NonNullable<State["who"]> | "owner";

/** A browser that goes from state to state, with one reused page per viewer. */
export class Walk implements AsyncDisposable {
  readonly stage: Stage;
  readonly #browser: Browser;
  readonly #pages = new Map<Who, Page>();
  readonly #options: BrowserContextOptions;

  private constructor(stage: Stage, browser: Browser, options: BrowserContextOptions) {
    this.stage = stage;
    this.#browser = browser;
    this.#options = options;
  }

  static async begin(options: BrowserContextOptions = {}): Promise<Walk> {
    const browser = await chromium.launch({
      ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--font-render-hinting=none"],
    });
    return new Walk(await Stage.open(), browser, { serviceWorkers: "block", locale: "en-GB", ...options });
  }

  /** Shows a state and passes its page to `look`. */
  async to<T>(name: string, look: (page: Page) => Promise<T>): Promise<T> {
    const state = STATES[name];
    if (!state) throw new Error(`There is no state ${name}: ${Object.keys(STATES).join(", ")}.`);
    const page = await this.page(state.who ?? "owner");
    await state.show(page, this.stage);
    try {
      return await look(page);
    } finally {
      await state.end?.(page, this.stage);
    }
  }

  /** The page of a viewer. */
  async page(who: Who): Promise<Page> {
    const known = this.#pages.get(who);
    if (known) return known;
    const context = await this.#browser.newContext(this.#options);
    context.setDefaultTimeout(30_000);
    const page = await context.newPage();
    this.#pages.set(who, page);
    const way = await this.#wayOf(who);
    if (way === undefined) return page;
    await page.goto(this.stage.at(way));
    await page.locator("#page main").waitFor();
    return page;
  }

  async #wayOf(who: Who): Promise<string | undefined> {
    switch (who) {
      case "owner":
        return `/?token=${TOKEN}`;
      case "guest":
        return `/?token=${WATCHING}`;
      case "linked": {
        const conversation = await this.stage.conversation(branches);
        return (await this.stage.ask("share.create", { conversation })).path;
      }
      case "stranger":
        return undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    await this.stage[Symbol.asyncDispose]();
  }
}
