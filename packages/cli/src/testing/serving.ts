import { once } from "node:events";
import type { Client, WatchedConversation } from "@banyan/client";
import { connect } from "@banyan/client/node";
import { onTestFinished } from "vitest";
import { type Home, type Running, start } from "./banyan.ts";

/** Token of all test servers. */
export const TOKEN = "a-token-of-a-test";

/** Starts `banyan serve` for the duration of the test. Resolves with the process and its address. */
export async function serving(
  place: Home,
  env: Readonly<Record<string, string>>,
  ...more: readonly string[]
): Promise<[Running, string]> {
  const server = start(place, ["serve", "--port", "0", "--model", "openai-compatible/test", ...more], {
    env: { ...env, BANYAN_TOKEN: TOKEN },
  });
  onTestFinished(() => void server.kill("SIGKILL"));
  let said = "";
  server.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  const ended = once(server, "exit").then(([code]) => {
    throw new Error(`banyan serve ended with ${code}: ${said}`);
  });
  // After a successful start, the test ends the server.
  ended.catch(() => {});
  while (!said.includes("/?token=")) await Promise.race([once(server.stdout, "data"), ended]);
  const [address = ""] = /http:\/\/[^/]*/.exec(said) ?? [];
  return [server, address];
}

/** Connects a client for the duration of the test. */
export async function connected(address: string, token = TOKEN): Promise<Client> {
  const remote = await connect({ address, token, client: "a test" });
  onTestFinished(() => remote.close());
  return remote;
}

/** Waits until a condition holds for a conversation. */
export function until(watched: WatchedConversation, is: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = () => {
    if (is()) resolve();
  };
  const stop = watched.follow({ item: look, renewed: look });
  look();
  return promise.finally(stop);
}
