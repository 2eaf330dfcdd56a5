import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Welcome } from "@banyan/protocol";
import { PROTOCOL, SILENCE } from "@banyan/protocol/values";
import { expect, onTestFinished, test, vi } from "vitest";
import { WebSocketServer } from "ws";
import type { Link } from "./link.ts";
import { nodeLink } from "./node-link.ts";

const WELCOME: Welcome = {
  type: "welcome",
  protocol: PROTOCOL,
  server: "test 1.0",
  rights: ["watch"],
  agent: "test",
  workspace: "/",
  settings: { model: "test", approval: "ask", sandbox: false, modes: ["ask"], unasked: [], carriedOut: [] },
};

test("F20: who hears nothing of the server any more looks for it anew; who does stays", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close());
  await once(server, "listening");
  server.on("connection", (socket) => {
    socket.once("message", () => socket.send(JSON.stringify(WELCOME)));
  });
  const said: string[] = [];
  const link = linkTo((server.address() as AddressInfo).port, said);
  onTestFinished(() => link.close());
  await eventually(() => expect(said).toEqual(["up"]));

  vi.advanceTimersByTime(0.75 * SILENCE);
  const [here] = server.clients;
  here?.send(JSON.stringify({ type: "alive" }));
  await eventually(() => expect(said).toEqual(["up", "alive"]));
  vi.advanceTimersByTime(0.75 * SILENCE);
  expect(here?.readyState).toBe(here?.OPEN);

  vi.advanceTimersByTime(0.5 * SILENCE);
  await eventually(() => expect(said).toEqual(["up", "alive", "down"]));
  vi.advanceTimersByTime(1_000);
  await eventually(() => expect(said).toEqual(["up", "alive", "down", "up"]));
});

/** Waits for events from the network. */
const eventually = (look: () => void) => vi.waitFor(look, { timeout: 60_000 });

function linkTo(port: number, said: string[]): Link {
  return nodeLink({ address: `http://127.0.0.1:${port}`, token: "a token", client: "test 1.0" })({
    up: () => said.push("up"),
    down: () => said.push("down"),
    gone: (error) => said.push(error.message),
    frame: ({ type }) => said.push(type),
    shared: ({ id }) => said.push(id),
  });
}
