import { describe, expect, test } from "vitest";
import { isSamePlace, redirectTarget } from "./get.ts";
import { fetchHere, sendTo, TestServer } from "./web.fixture.ts";

describe("redirects", () => {
  test.each([301, 302, 303, 307, 308])(
    "a redirect with status %i at the same host is followed, and the last address is returned",
    async (status) => {
      await using server = await TestServer.start((request, response) =>
        request.url === "/old" ? sendTo(response, "new?x=1", status) : response.end("here"),
      );
      expect(await fetchHere(`${server.url}/old`)).toBe(`Address: ${server.url}/new?x=1\n\nhere`);
    },
  );

  test.each([
    ["http://127.0.0.2:1/", "forbidden"],
    ["http://[::1]:1/", "forbidden"],
    ["//169.254.169.254/latest", "forbidden"],
    ["file:///etc/passwd", "address"],
    ["data:text/plain,x", "address"],
    ["http://user:password@127.0.0.1:1/", "address"],
  ])("S11: a redirect to %s is not followed", async (location, code) => {
    await using server = await TestServer.start((_, response) => sendTo(response, location));
    await expect(fetchHere(server.url)).rejects.toMatchObject({ code });
    expect(server.received).toHaveLength(1);
  });

  test("S11: a redirect to a name with a private address is not followed", async () => {
    await using server = await TestServer.start((_, response) => sendTo(response, "http://inner.example/"));
    await expect(fetchHere(server.url, { resolve: async () => ["192.168.0.1"] })).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("inner.example (192.168.0.1)"),
    });
  });

  test("S11: a redirect at the same host is not followed against a rule; a redirect to another host needs a new permission", async () => {
    await using other = await TestServer.give("other");
    await using server = await TestServer.start((request, response) =>
      sendTo(response, request.url === "/away" ? `${other.url}/private` : "/private/page"),
    );
    const whyNot = ({ pathname, href }: URL) =>
      pathname.startsWith("/private") ? `The rule forbids to fetch ${href}.` : undefined;
    await expect(fetchHere(`${server.url}/open`, { whyNot })).rejects.toMatchObject({
      code: "rule",
      message: `The rule forbids to fetch ${server.url}/private/page.`,
    });
    expect(server.received).toHaveLength(1);
    const permit = async () => ({ decision: "allow" as const });
    expect(await fetchHere(`${server.url}/away`, { whyNot }, { permit })).toMatch(/other$/);
  });

  test("five are followed, and no sixth", async () => {
    await using server = await TestServer.start((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end("end");
      else sendTo(response, `/${left - 1}`);
    });
    expect(await fetchHere(`${server.url}/5`)).toMatch(/end$/);
    await expect(fetchHere(`${server.url}/6`)).rejects.toMatchObject({ code: "redirect" });
  });

  test("B63: a redirect to another host is followed if the rules allow the address; otherwise the model gets the address", async () => {
    await using other = await TestServer.give("other");
    await using server = await TestServer.start((_, response) => sendTo(response, `${other.url}/x`));
    const judged: unknown[] = [];
    const permit = (decision: "allow" | "ask") => async (input: unknown) => {
      judged.push(input);
      return { decision };
    };
    expect(await fetchHere(server.url, {}, { permit: permit("allow") })).toMatch(/other$/);
    await expect(fetchHere(server.url, {}, { permit: permit("ask") })).rejects.toMatchObject({
      code: "redirect",
      message: expect.stringContaining(`fetch ${other.url}/x.`),
    });
    expect(judged).toEqual([{ url: `${other.url}/x` }, { url: `${other.url}/x` }]);
    expect(other.received).toHaveLength(1);
  });

  test.each([
    ["http://a.example/x", "https://a.example/y", true],
    ["https://a.example/x", "https://a.example:443/y", true],
    ["https://a.example/x", "https://a.example:8443/y", false],
    ["http://a.example:8080/x", "https://a.example/y", false],
    ["http://a.example/x", "http://b.example/x", false],
    ["https://a.example/x", "https://www.a.example/x", false],
  ])("from %s to %s, the host is the same: %s", (from, to, isSame) => {
    expect(isSamePlace(new URL(from), redirectTarget(new URL(from), to))).toBe(isSame);
  });

  test("encryption is not given up", () => {
    expect(() => redirectTarget(new URL("https://a.example/"), "http://a.example/")).toThrow("not encrypted");
  });
});
