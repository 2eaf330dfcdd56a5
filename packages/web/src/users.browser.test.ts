import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool } from "@banyan/core";
import { call, scriptedModel, text, until } from "@banyan/core/testing";
import { serve } from "@banyan/server";
import { sqliteStore } from "@banyan/store/sqlite";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { builtPage } from "./testing/built-page.fixture.ts";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, PATIENT, site, write } from "./testing/site.fixture.ts";

/** The users of a shop, by the cookie of the shop's own sign-in. */
async function shop() {
  const gate = Promise.withResolvers<void>();
  const refunds: unknown[] = [];
  const refund = defineTool({
    name: "refund",
    description: "Pays an order back.",
    input: { type: "object", properties: { order: { type: "string" } } },
    effects: "external",
    execute: (input) => {
      refunds.push(input);
      return "12 EUR are on their way.";
    },
  });
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role !== "user") return "I have paid order 7 back.";
    const said = JSON.stringify(last);
    if (said.includes("refund")) return [call("refund", { order: "7" })];
    return said.includes("story") ? [text("Once upon "), until(gate.promise), text("a time.")] : "We open at nine.";
  });
  const directory = mkdtempSync(join(tmpdir(), "banyan-users-"));
  const store = sqliteStore({ directory });
  const agent = new Agent({ name: "shop", model, tools: [refund], permission: () => ({ decision: "ask" }) });
  const server = await serve(agent, {
    store,
    page: await builtPage(),
    authorize: ({ headers }) => {
      const user = /user=(\w+)/.exec(headers.get("cookie") ?? "")?.[1];
      if (user === "guest") return { user: "ada", rights: ["watch"] };
      return user !== undefined && { user };
    },
  });
  onTestFinished(async () => {
    gate.resolve();
    await server.stop();
    await store.close();
    rmSync(directory, { recursive: true });
  });
  return { server, refunds, goOn: gate.resolve };
}

describe.runIf(chromiumPath)(`the page for users of a served agent${whyNot}`, PATIENT, () => {
  const here = site();

  /** Signs a window in at the shop, as the shop's own sign-in would. */
  async function signIn(page: Page, address: string, user: string): Promise<void> {
    await page.context().clearCookies({ name: "user" });
    await page.context().addCookies([{ name: "user", value: user, url: address }]);
  }
  async function pageOf(user: string, address: string, path = "/"): Promise<Page> {
    const page = await here.stranger("/sign-in");
    await signIn(page, address, user);
    await page.goto(`${address}${path}`);
    return page;
  }
  const answer = (page: Page, words: string) => articles(page).filter({ hasText: words }).waitFor();
  const listed = (page: Page) =>
    page
      .getByRole("navigation")
      .getByRole("link", { name: /refund|story|open/ })
      .count();

  it("L1: each user opens the page, sees only own conversations, approves own calls, and reloads in the middle of an answer", async () => {
    const { server, refunds, goOn } = await shop();
    const ada = await pageOf("ada", server.address);
    await ada.locator("#composer:focus").waitFor();
    await write(ada, "Please refund order 7.");
    await ada.waitForURL(/\/c\//);
    const allow = ada.getByRole("button", { name: /^Allow/ }).first();
    await allow.waitFor();

    const bob = await pageOf("bob", server.address);
    await bob.locator("#composer:focus").waitFor();
    expect([await listed(bob), await bob.getByText("refund").count()]).toEqual([0, 0]);
    // The address of another user's conversation.
    await bob.goto(ada.url());
    await bob
      .getByText(/no conversation|not found|does not exist/i)
      .first()
      .waitFor();
    expect(await bob.getByText("refund").count()).toBe(0);
    await bob.goto(server.address);
    await write(bob, "When do you open?");
    await answer(bob, "We open at nine.");

    await allow.click();
    await answer(ada, "I have paid order 7 back.");
    expect(refunds).toEqual([{ order: "7" }]);
    await expect.poll(() => listed(bob)).toBe(1);
    await expect.poll(() => listed(ada)).toBe(1);

    await write(ada, "Tell a story.");
    await answer(ada, "Once upon");
    await ada.reload();
    await answer(ada, "Once upon");
    goOn();
    await answer(ada, "Once upon a time.");
  });

  it("L1: rights limit a user, a change of the user changes the page, and without a user there is no page", async () => {
    const { server } = await shop();
    const page = await pageOf("ada", server.address);
    await write(page, "When do you open?");
    await answer(page, "We open at nine.");
    const conversation = page.url();

    // The path survives the sign-in.
    const guest = await pageOf("guest", server.address, new URL(conversation).pathname);
    await answer(guest, "We open at nine.");
    expect(guest.url()).toBe(conversation);
    expect(await composer(guest).count()).toBe(0);

    await signIn(page, server.address, "bob");
    await page.reload();
    await page
      .getByText(/no conversation|not found|does not exist/i)
      .first()
      .waitFor();
    expect(await page.getByText("We open at nine.").count()).toBe(0);

    await page.context().clearCookies({ name: "user" });
    const gone = await page.goto(server.address);
    expect(gone?.status()).toBe(401);
    expect(await page.getByText("Not signed in.").count()).toBeGreaterThan(0);
  });
});
