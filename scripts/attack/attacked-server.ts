import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { createId } from "../../packages/core/src/conversation/index.ts";
import type { Place } from "./attack.ts";

export const GUEST = "a-guest-of-an-attack-0123456789";

export interface AttackedServer {
  readonly address: string;
  readonly token: string;
  readonly conversation: string;
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A server's response; only the beginning of an endless stream. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** Starts the server in the folder of the place. The server ends with the attempt. */
export async function attackedServer(place: Place): Promise<AttackedServer> {
  const args = ["serve", "--port", "0", "--model", "demo/offline", "--guest-token", GUEST];
  const server = place.start(args);
  let said = "";
  for (const stream of [server.stdout, server.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
  for (;;) {
    const [, address, token] = /^Open (http:\S+)\/\?token=(\S+)$/m.exec(said) ?? [];
    if (address !== undefined && token !== undefined) return { address, token, ...(await begun(address, token)) };
    if (server.exitCode !== null) throw new Error(`banyan serve ended: ${said}`);
    await Promise.race([once(server.stdout, "data"), once(server, "exit")]);
  }
}

/** Sends a request with any headers, even those that no browser lets a page send. */
export function send(
  address: string,
  path: string,
  { method = "GET", headers = {}, body }: Sent = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(`${address}${path}`, { method, headers, agent: false }, (response) => {
      const { statusCode: status = 0, headers: given } = response;
      if (given["content-type"] === "text/event-stream") {
        response.once("data", (chunk) => {
          resolve({ status, headers: given, body: String(chunk) });
          response.destroy();
        });
        return;
      }
      text(response).then((answer) => resolve({ status, headers: given, body: answer }), reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

export function command(
  address: string,
  headers: Sent["headers"] & object,
  type: string,
  input: object,
): Promise<Answer> {
  const body = JSON.stringify({ type, id: createId(), ...input });
  return send(address, "/api/v1/commands", { method: "POST", headers, body });
}

/** Returns the cookie of a browser that signed in with the token. The browser sends it to all ports of the host. */
export async function cookieOf({ address, token }: AttackedServer): Promise<string> {
  const opened = await send(address, `/?token=${token}`);
  const [, once] = String(opened.headers.location).split("#");
  const body = JSON.stringify({ token: once });
  const entered =
    once === undefined
      ? opened
      : await send(address, "/api/v1/sign-in", { method: "POST", headers: { origin: address }, body });
  const cookie = String(entered.headers["set-cookie"]).split(";")[0] ?? "";
  if (!cookie.startsWith("banyan-")) throw new Error(`A browser could not sign in: ${entered.status} ${entered.body}`);
  return cookie;
}

async function begun(address: string, token: string): Promise<{ readonly conversation: string }> {
  const headers = { authorization: `Bearer ${token}` };
  const { body, status } = await command(address, headers, "conversation.create", {});
  if (status !== 200) throw new Error(`The owner cannot begin a conversation: ${body}`);
  const { conversation } = JSON.parse(body) as { conversation: string };
  const parts = [{ type: "text", text: "the secret of the owner" }];
  await command(address, headers, "message.add", { conversation, parts });
  return { conversation };
}
