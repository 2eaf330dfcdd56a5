import type { AgentOptions, Store } from "@banyan/core";
import { builtPage, serve } from "@banyan/server";
import { hostOf } from "@banyan/server/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { chromium, type Page } from "playwright-core";
import { buildPage, isPageFresh } from "../../scripts/page.ts";
import { temporaryDirectory } from "./stores/temporary.ts";

/** The published page in Chromium, with a server whose store is on disk. */
export class BuiltPage implements AsyncDisposable {
  readonly tab: Page;
  readonly address: string;
  readonly #end: () => Promise<void>;

  private constructor(tab: Page, address: string, end: () => Promise<void>) {
    this.tab = tab;
    this.address = address;
    this.#end = end;
  }

  /** Writes the data to display into the store, and opens the start page. */
  static async open<T>(
    agent: AgentOptions,
    write: (store: Store) => Promise<T>,
  ): Promise<{ readonly page: BuiltPage; readonly written: T }> {
    if (!isPageFresh()) await buildPage();
    const files = builtPage();
    if (files === undefined) throw new Error("The page was built, and is not where the server looks for it.");
    const store = sqliteStore({ directory: temporaryDirectory() });
    const written = await write(store);
    const running = await serve({ host: hostOf(store, agent).host, page: files });
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--js-flags=--expose-gc"],
    });
    const tab = await browser.newPage({ viewport: { width: 1440, height: 900 }, serviceWorkers: "block" });
    await tab.goto(`${running.address}/?token=${running.token}`);
    await tab.getByText("New conversation").first().waitFor();
    const page = new BuiltPage(tab, running.address, async () => {
      await browser.close();
      await running.stop();
      await store.close();
    });
    return { page, written };
  }

  /** Returns the size of the page's JavaScript heap in megabytes. */
  heap(): Promise<number> {
    return this.tab.evaluate(() => {
      (globalThis as unknown as { gc(): void }).gc();
      return (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize / 1_000_000;
    });
  }

  /** Starts to record tasks longer than 50 ms. Layout shifts without a user action count from the loading on. */
  watch(): Promise<void> {
    return this.tab.evaluate(() => {
      const seen = { longest: 0, moved: 0 };
      // The usual definition: the largest sum within 5 seconds without a gap of one second.
      const window = { begin: 0, end: Number.NEGATIVE_INFINITY, sum: 0 };
      Object.assign(globalThis, { seen });
      const observe = (type: string, each: (entry: PerformanceEntry) => void, buffered = false) =>
        new PerformanceObserver((list) => list.getEntries().forEach(each)).observe({ type, buffered });
      observe("longtask", ({ duration }) => {
        seen.longest = Math.max(seen.longest, duration);
      });
      observe(
        "layout-shift",
        (entry) => {
          const { value, hadRecentInput } = entry as unknown as { value: number; hadRecentInput: boolean };
          if (hadRecentInput) return;
          const at = entry.startTime;
          if (at - window.end > 1_000 || at - window.begin > 5_000) Object.assign(window, { begin: at, sum: 0 });
          window.end = at;
          window.sum += value;
          seen.moved = Math.max(seen.moved, window.sum);
        },
        true,
      );
    });
  }

  /** Returns the longest task in milliseconds, 0 if all took less than 50, and the layout shift. */
  async seen(): Promise<{ readonly longest: number; readonly moved: number }> {
    // The last entries arrive a moment later.
    await this.tab.waitForTimeout(200);
    return this.tab.evaluate(() => (globalThis as unknown as { seen: { longest: number; moved: number } }).seen);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}
