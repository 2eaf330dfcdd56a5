import { existsSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { modelServer, shell } from "../../../packages/cli/src/testing/model-server.ts";
import { type Attack, NotTried } from "../attack.ts";

// S38: no byte of a command reaches an address that nobody allowed.

/** Ways to reach a listener on this machine from a command. `port` is the listener's. */
const ways: Readonly<Record<string, (port: number) => string>> = {
  "the proxy": (port) => `curl -s -m 5 --noproxy '' http://127.0.0.1:${port}`,
  "a tunnel of the proxy": (port) => `curl -s -m 5 --noproxy '' -p http://127.0.0.1:${port}`,
  "SOCKS of the proxy": (port) => `curl -s -m 5 --noproxy '' -x "$ALL_PROXY" http://127.0.0.1:${port}`,
  "no proxy": (port) => `curl -s -m 5 --noproxy '*' http://127.0.0.1:${port}`,
  "no proxy variables": (port) => `env -i PATH="$PATH" curl -s -m 5 http://127.0.0.1:${port}`,
  "another spelling of the address": (port) => `curl -s -m 5 --noproxy '' http://2130706433:${port}`,
  "an IPv6 address": (port) => `curl -s -m 5 --noproxy '' http://[::ffff:127.0.0.1]:${port}`,
  "a name that resolves to this machine": (port) => `curl -s -m 5 --noproxy '' http://localhost:${port}`,
  "a socket of bash": (port) => `echo hello > /dev/tcp/127.0.0.1/${port}`,
  "a forged Host header": (port) => `curl -s -m 5 --noproxy '' -H 'Host: example.org' http://127.0.0.1:${port}`,
  "another user of the proxy": (port) =>
    `curl -s -m 5 --noproxy '' -x "$(echo "$HTTP_PROXY" | sed 's#//[^@]*@#//other:word@#')" http://127.0.0.1:${port}`,
  "the proxy, in the background": (port) => `(curl -s -m 5 --noproxy '' http://127.0.0.1:${port} &) ; sleep 2`,
  "a registry of the workspace's .npmrc": (port) =>
    `echo registry=http://127.0.0.1:${port} > .npmrc; curl -s -m 5 --noproxy '' http://127.0.0.1:${port}`,
  "a name with a control character": (port) =>
    `printf 'CONNECT 127.0.0.1%%00.example.org:${port} HTTP/1.1\\r\\n\\r\\n' > /dev/tcp/127.0.0.1/3128`,
};

export const attacks: readonly Attack[] = Object.entries(ways).map(([way, command]): Attack => {
  return {
    rule: "S38",
    name: `a command reaches an address that nobody allowed, through ${way}`,
    async attempt(place) {
      let bytes = 0;
      const listener = createServer((socket) => {
        socket.on("data", (data) => (bytes += data.length)).on("error", () => {});
        socket.end();
      });
      await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
      try {
        const { port } = listener.address() as AddressInfo;
        await using model = await modelServer(shell(`touch ran; ${command(port)}`), { text: "done" });
        const args = ["-p", "go", "--model", "openai-compatible/test", "--approval", "all"];
        const { stderr } = await place.banyan(args, { env: model.env });
        if (/without a sandbox|needs a sandbox/.test(stderr)) throw new NotTried("commands run in no sandbox here");
        if (!existsSync(`${place.folder}/ran`)) throw new Error(`The command did not run: ${stderr}`);
        return bytes > 0 ? `${bytes} bytes arrived` : undefined;
      } finally {
        listener.close();
      }
    },
  };
});
