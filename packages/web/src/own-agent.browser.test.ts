import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { serve } from "@banyan/server";
import { sqliteStore } from "@banyan/store/sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { faultsOf } from "./testing/axe.fixture.ts";
import { builtPage } from "./testing/built-page.fixture.ts";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, PATIENT, site, write } from "./testing/site.fixture.ts";

/** A shop's own agent, whose refunds ask first. */
function shop() {
  const refunds: string[] = [];
  const refund = defineTool({
    name: "refund",
    description: "Pays an order back.",
    input: { type: "object", properties: { order: { type: "string" } } },
    effects: "external",
    execute: () => {
      refunds.push("7");
      return "12 EUR are on their way.";
    },
  });
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role !== "user") return "I have paid order 7 back.";
    return JSON.stringify(last).includes("refund") ? [call("refund", { order: "7" })] : "We open at nine.";
  });
  return {
    refunds,
    agent: new Agent({ name: "shop", model, tools: [refund], permission: () => ({ decision: "ask" }) }),
  };
}

describe.runIf(chromiumPath)(`the page of a developer's own agent${whyNot}`, PATIENT, () => {
  const here = site();

  it("L1: the page opens a conversation of a served agent, answers its question, and shows only what the agent has", async () => {
    const directory = mkdtempSync(join(tmpdir(), "banyan-own-agent-"));
    const store = sqliteStore({ directory });
    const { agent, refunds } = shop();
    const server = await serve(agent, { store, page: await builtPage() });
    onTestFinished(async () => {
      await server.stop();
      await store.close();
      rmSync(directory, { recursive: true });
    });
    const page = await here.stranger("/sign-in");
    await page.goto(server.pageAddress);
    await page.locator("#composer:focus").waitFor();
    await page.getByText("shop", { exact: true }).first().waitFor();
    // No files to name, no other models to choose, and no commands about either.
    expect(await page.getByRole("list", { name: "Examples" }).count()).toBe(0);
    expect(await page.getByRole("button", { name: /^Model: / }).count()).toBe(0);
    await composer(page).fill("/");
    await page.getByRole("option", { name: /^\/help/ }).waitFor();
    for (const absent of ["approval", "model", "worktrees"])
      expect([absent, await page.getByRole("option", { name: new RegExp(`^/${absent}\\b`) }).count()]).toEqual([
        absent,
        0,
      ]);
    await composer(page).fill("");

    await write(page, "Please refund @package.json");
    await page.waitForURL(/\/c\//);
    await page
      .getByRole("button", { name: /^Allow/ })
      .first()
      .click();
    await articles(page).filter({ hasText: "I have paid order 7 back." }).waitFor();
    expect(refunds).toEqual(["7"]);
    expect(await page.getByText("@package.json").count()).toBeGreaterThan(0);

    // After a reload, the conversation goes on.
    await page.reload();
    await articles(page).filter({ hasText: "I have paid order 7 back." }).waitFor();
    await write(page, "When do you open?");
    await articles(page).filter({ hasText: "We open at nine." }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
  });
});
