import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { WebSocketServer } from "ws";
import { PROTOCOL, SIGN_OF_LIFE, type Welcome } from "../protocol/index.ts";
import { Link } from "./link.ts";

const WELCOME: Welcome = {
  type: "welcome",
  protocol: PROTOCOL,
  server: "test 1.0",
  rights: ["watch"],
  agent: "test",
  workspace: "/",
  settings: { model: "test", approval: "ask" },
};

test("F20: who hears nothing of the server any more looks for it anew; who is pinged stays", async () => {
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
  await vi.waitFor(() => expect(said).toEqual(["up"]));

  vi.advanceTimersByTime(1.5 * SIGN_OF_LIFE);
  const [here] = server.clients;
  here?.ping();
  await once(here ?? server, "pong");
  vi.advanceTimersByTime(1.5 * SIGN_OF_LIFE);
  expect(here?.readyState).toBe(here?.OPEN);
  expect(said).toEqual(["up"]);

  vi.advanceTimersByTime(SIGN_OF_LIFE);
  await vi.waitFor(() => expect(said).toEqual(["up", "down"]));
  vi.advanceTimersByTime(1_000);
  await vi.waitFor(() => expect(said).toEqual(["up", "down", "up"]));
});

function linkTo(port: number, said: string[]): Link {
  return new Link(
    { address: `http://127.0.0.1:${port}`, token: "a token", client: "test 1.0" },
    { up: () => said.push("up"), down: () => said.push("down"), lost: (error) => said.push(error.message), frame() {} },
  );
}
