import { PROTOCOL } from "../../../packages/protocol/src/index.ts";
import type { Attack } from "../attack.ts";
import { type AttackedServer, attackedServer, command, cookieOf, type Sent, send } from "../attacked-server.ts";

// S20: attackers cannot lock the owner out, and the page's cookie, which every port of the host gets, is useless alone.

/** More attempts than a server accepts before it delays an address. */
const WRONG = 25;

const navigation = { "sec-fetch-mode": "navigate", accept: "text/html" };

const doors: Readonly<Record<string, (count: number, address: string) => readonly [path: string, sent: Sent]>> = {
  "as a bearer": (n) => ["/api/v1/models", { headers: { authorization: `Bearer wrong-${n}` } }],
  "in an address": (n) => [`/?token=wrong-${n}`, {}],
  "by a frame of a foreign page": (n) => [
    `/?token=wrong-${n}`,
    { headers: { ...navigation, "sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe" } },
  ],
  "by windows of a foreign page": (n) => [
    `/?token=wrong-${n}`,
    { headers: { ...navigation, "sec-fetch-site": "cross-site", "sec-fetch-dest": "document" } },
  ],
  "by a page on another port": (n) => [
    `/?token=wrong-${n}`,
    { headers: { ...navigation, "sec-fetch-site": "same-site", "sec-fetch-dest": "document" } },
  ],
  "by pictures of a foreign page": (n) => [
    `/?token=wrong-${n}`,
    { headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" } },
  ],
  "by links that a browser looks at ahead": (n) => [`/?token=wrong-${n}`, { headers: { "sec-purpose": "prefetch" } }],
  "by a program that signs in": (n, address) => [
    "/api/v1/sign-in",
    { method: "POST", headers: { origin: address }, body: `{"token":"wrong-${n}"}` },
  ],
};

/** Uses of the cookie by a server on another port. Each returns what the server saw or did. */
const uses: Readonly<Record<string, (server: AttackedServer, cookie: string) => Promise<string | undefined>>> = {
  "to read the list": ({ address }, cookie) => seen(address, "/api/v1/conversations", cookie),
  "to export a conversation": ({ address, conversation }, cookie) =>
    seen(address, `/api/v1/conversations/${conversation}/export`, cookie),
  "to follow a conversation": ({ address, conversation }, cookie) =>
    seen(address, `/api/v1/conversations/${conversation}/feed`, cookie),
  "to list providers": ({ address }, cookie) => seen(address, "/api/v1/models", cookie),
  "to read the page": ({ address, conversation }, cookie) => seen(address, `/c/${conversation}`, cookie),
  "to act": async ({ address, conversation }, cookie) => {
    const headers = { ...asPage(address), cookie };
    const { status } = await command(address, headers, "conversation.rename", { conversation, title: "Taken over" });
    return status === 200 ? "a conversation was renamed with the cookie alone" : undefined;
  },
  "to import a conversation": async ({ address }, cookie) => {
    const sent = { method: "POST", headers: { ...asPage(address), cookie }, body: "{}" };
    const { status } = await send(address, "/api/v1/conversations", sent);
    return status === 401 || status === 403 ? undefined : `an import was looked at: ${status}`;
  },
  "for a socket": ({ address }, cookie) => welcomed(address, cookie, undefined),
  "for a socket, with the cookie as proof": ({ address }, cookie) => welcomed(address, cookie, cookie.slice(0, 100)),
  "for a socket, with the challenge as proof": ({ address }, cookie) => welcomed(address, cookie, "challenge"),
};

export const attacks: readonly Attack[] = [
  ...Object.entries(doors).map(
    ([name, door]): Attack => ({
      rule: "S20",
      name: `${WRONG} wrong tokens ${name}`,
      async attempt(place) {
        const { address, token } = await attackedServer(place);
        for (let count = 0; count < WRONG; count++) await send(address, ...door(count, address));
        const asked = await send(address, "/api/v1/conversations", { headers: { authorization: `Bearer ${token}` } });
        if (asked.status !== 200) return `the owner's program is refused: ${asked.status} ${asked.body}`;
        const opened = await send(address, `/?token=${token}`);
        return opened.status === 303 ? undefined : `the owner's browser is refused: ${opened.status}`;
      },
    }),
  ),
  ...Object.entries(uses).map(
    ([name, use]): Attack => ({
      rule: "S20",
      name: `another port uses the cookie ${name}`,
      async attempt(place) {
        const server = await attackedServer(place);
        return use(server, await cookieOf(server));
      },
    }),
  ),
];

function asPage(address: string): Readonly<Record<string, string>> {
  return { origin: address, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" };
}

async function seen(address: string, path: string, cookie: string): Promise<string | undefined> {
  const { status, body } = await send(address, path, { headers: { ...asPage(address), cookie } });
  const isRead = status === 200 && (path.startsWith("/api") || body.includes("secret of the owner"));
  return isRead ? `${path} was read: ${body.slice(0, 80)}` : undefined;
}

/** Opens a socket like the page. Returns the welcome if the server took the socket for the page. */
function welcomed(address: string, cookie: string, proof: string | undefined): Promise<string | undefined> {
  // A program's socket can send any header; the type only has those of browsers.
  const options = { headers: { ...asPage(address), cookie } } as unknown as string[];
  const socket = new WebSocket(`${address.replace("http", "ws")}/api/v1/socket`, options);
  return new Promise((resolve) => {
    const hello = (given: string | undefined) =>
      socket.send(JSON.stringify({ type: "hello", protocol: PROTOCOL, client: "another", proof: given }));
    socket.onopen = () => proof !== "challenge" && hello(proof);
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(String(data));
      if (frame.type === "challenge" && proof === "challenge") hello(frame.challenge);
      if (frame.type !== "welcome") return;
      resolve(`a socket was welcomed with the rights ${frame.rights}`);
      socket.close();
    };
    socket.onclose = () => resolve(undefined);
  });
}
