import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Home, home, start } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

/** Collectors that a user may have; `undefined` listens nowhere. */
const collectors: Readonly<Record<string, RequestListener | undefined>> = {
  hangs: () => {},
  drips: (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const drip = setInterval(() => response.write(" "), 100);
    response.once("close", () => clearInterval(drip));
  },
  "refuses for now": (_request, response) => response.writeHead(503, { "retry-after": "60" }).end(),
  "refuses all": (_request, response) => response.writeHead(400).end("no"),
  "is missing": undefined,
};

/** A collector, and how to close it at once. */
async function collector(listener: RequestListener | undefined) {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  if (!listener) await close();
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => (listener ? close() : Promise.resolve()) };
}

/** Milliseconds from the response of the model until the result is told, and from then until the process has ended. */
async function timesOf(output: "text" | "json", url: string) {
  await using server = await modelServer({ text: "All done." });
  const env = { ...server.env, OTEL_EXPORTER_OTLP_ENDPOINT: url };
  const running = start(place, ["-p", "hello", "--model", "openai-compatible/test", "--output", output], { env });
  let [said, responded, printed] = ["", 0, 0];
  running.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (said.endsWith("\n")) printed = performance.now();
  });
  running.stderr.resume();
  const looking = setInterval(() => {
    if (server.asked.length > 0) responded ||= performance.now();
  }, 2);
  const [code] = await once(running, "close");
  const ended = performance.now();
  clearInterval(looking);
  expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining("All done.") });
  return { told: printed - responded, after: ended - printed };
}

describe("F102: telemetry delays no answer", () => {
  test.each([
    ["text", "hangs"],
    ["json", "hangs"],
    ["json", "drips"],
    ["text", "refuses for now"],
    ["text", "refuses all"],
    ["json", "is missing"],
  ] as const)(
    "as %s, with a collector that %s: it is told first, and what is left is sent for two seconds at most",
    async (output, how) => {
      await using to = await collector(collectors[how]);
      const { told, after } = await timesOf(output, to.url);
      // A tenth of a second on a machine that does nothing else; who waited for a collector would need two seconds more.
      expect(told).toBeLessThan(1_200);
      expect(after).toBeLessThan(2_900);
      const log = () => readFileSync(join(place.env.BANYAN_HOME ?? "", "state", "banyan.log"), "utf8");
      if (how === "hangs") {
        expect(after).toBeGreaterThan(1_500);
        expect(log()).toContain("could not be sent within two seconds.");
      }
      if (how === "refuses all") expect(after).toBeLessThan(1_000);
      if (how === "is missing") {
        expect(after).toBeLessThan(1_000);
        expect(log()).toContain("could not be sent: nobody listens there.");
      }
    },
  );
});
