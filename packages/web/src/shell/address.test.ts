import { ODD_IDS } from "@banyan/core/testing";
import { createMemoryHistory, createRootRoute, createRoute, createRouter } from "@tanstack/react-router";
import { expect, test } from "vitest";
import { conversationIn, conversationParams, messageHash, messageIn } from "./address.ts";

test("W80: the address of a page says which conversation and which message it shows, whatever their ids hold", async () => {
  const root = createRootRoute();
  const shown = createRoute({ getParentRoute: () => root, path: "/c/$conversation", params: conversationParams });
  for (const id of ODD_IDS) {
    const to = { to: "/c/$conversation", params: { conversation: id }, search: { leaf: id }, hash: messageHash(id) };
    const routeTree = root.addChildren([shown]);
    const router = createRouter({ routeTree, history: createMemoryHistory() });
    const { href } = router.buildLocation(to as never);
    // As a browser has it, whose addresses are in ASCII.
    const address = new URL(href, "http://localhost");
    const history = createMemoryHistory({ initialEntries: [address.href.slice(address.origin.length)] });
    const opened = createRouter({ routeTree, history });
    await opened.load();
    const { pathname, search, hash } = opened.state.location;
    expect([conversationIn(pathname), messageIn(hash), (search as { leaf?: unknown }).leaf]).toEqual([id, id, id]);
    expect(opened.state.matches.at(-1)?.params).toEqual({ conversation: id });
  }
  expect(conversationIn("/c/an%20oak")).toBe("an oak");
  expect(conversationIn("/c/%")).toBeUndefined();
  expect(conversationIn("/")).toBeUndefined();
  expect(messageIn("")).toBeUndefined();
});
