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

/** Kinds of collectors; `undefined` does not listen. */
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

/** A collector, and a function that closes it at once. */
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

/** Runs a turn to its end, and checks its result. */
async function runWith(output: "text" | "json", url: string) {
  await using server = await modelServer({ text: "All done." });
  const env = { ...server.env, OTEL_EXPORTER_OTLP_ENDPOINT: url };
  const running = start(place, ["-p", "hello", "--model", "openai-compatible/test", "--output", output], { env });
  let said = "";
  running.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  running.stderr.resume();
  const [code] = await once(running, "close");
  expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining("All done.") });
}

test.each(["text", "json"] as const)(
  "F102: as %s, nothing is sent to a collector before the reader has the whole answer, and what is left is sent then",
  async (output) => {
    const events: string[] = [];
    await using to = await collector((_request, response) => {
      events.push("sending");
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
    // Larger than a pipe's buffer, so that output is still pending when this test reads.
    await using server = await modelServer({ text: "word ".repeat(100_000) });
    const later = { OTEL_BSP_SCHEDULE_DELAY: "600000", OTEL_METRIC_EXPORT_INTERVAL: "600000" };
    const env = { ...server.env, ...later, OTEL_EXPORTER_OTLP_ENDPOINT: to.url };
    const running = start(place, ["-p", "hello", "--quiet", "--model", "openai-compatible/test", "--output", output], {
      env,
    });
    running.stderr.resume();
    await once(running.stdout, "readable");
    // Long enough to catch a program that does not wait. A correct program passes at any speed.
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(events).toEqual([]);
    let length = 0;
    running.stdout.on("data", (piece: Buffer) => {
      length += piece.length;
      if (length > 500_000 && events.at(-1) !== "answer") events.push("answer");
    });
    const [code] = await once(running, "close");
    expect(code).toBe(0);
    expect(events.slice(0, 2)).toEqual(["answer", "sending"]);
  },
);

describe("F102: telemetry delays no answer", () => {
  test.each([
    ["text", "hangs"],
    ["json", "hangs"],
    ["json", "drips"],
    ["text", "refuses for now"],
    ["text", "refuses all"],
    ["json", "is missing"],
  ] as const)(
    "as %s, with a collector that %s: the result is right, and only a collector that listens is awaited, for two seconds",
    async (output, how) => {
      await using to = await collector(collectors[how]);
      await runWith(output, to.url);
      const log = readFileSync(join(place.env.BANYAN_HOME ?? "", "state", "banyan.log"), "utf8");
      expect(log).toContain("could not be sent");
      // Retries to a busy collector may end before or after two seconds.
      const isAwaited = how === "hangs" || how === "drips";
      if (how !== "refuses for now") expect(log.includes("could not be sent within 2 seconds.")).toBe(isAwaited);
      expect(log.includes("could not be sent: the connection was refused.")).toBe(how === "is missing");
    },
  );
});

const median = (values: readonly number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;

test.runIf(process.env.BANYAN_LONG)(
  "F102: with any collector, the whole answer is printed within 0.1 seconds of the time without a collector",
  async () => {
    const times = new Map<string, number[]>();
    // In turn, so that other work on the machine slows all of them.
    for (let round = 0; round < 10; round++) {
      for (const how of ["none", ...Object.keys(collectors)]) {
        await using to = await collector(collectors[how]);
        let asked = 0;
        await using server = await modelServer(() => {
          asked = performance.now();
          return { text: "All done." };
        });
        const env = { ...server.env, ...(how !== "none" && { OTEL_EXPORTER_OTLP_ENDPOINT: to.url }) };
        const running = start(place, ["-p", "hello", "--model", "openai-compatible/test"], { env });
        let printed = 0;
        running.stdout.on("data", () => {
          printed = performance.now();
        });
        running.stderr.resume();
        await once(running, "close");
        times.set(how, [...(times.get(how) ?? []), printed - asked]);
      }
    }
    const medians = Object.fromEntries([...times].map(([how, each]) => [how, Math.round(median(each))]));
    console.log("milliseconds from the model's answer to the last printed byte:", medians);
    for (const [how, taken] of Object.entries(medians)) expect(taken - (medians.none ?? 0), how).toBeLessThan(100);
  },
  600_000,
);
