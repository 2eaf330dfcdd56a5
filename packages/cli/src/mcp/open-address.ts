import { spawn } from "node:child_process";
import { visibleLine } from "@banyan/core/shown";
import { pathWithout } from "@banyan/host/find-program";
import type { McpPlace } from "@banyan/host/mcp";

/** What opens an address in a browser, by system. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Shows an address, and opens it in a browser where there is one; `BROWSER` says which. */
export function openAddress(address: URL, env: McpPlace["env"], tell: (text: string) => void): void {
  const href = visibleLine(address.href);
  if (address.protocol !== "https:" && address.protocol !== "http:") {
    tell(`This is no address of the web, and is not opened: ${href}\n`);
    return;
  }
  tell(`Sign in at ${visibleLine(address.host)} in your browser, and come back. If no page opens:\n${href}\n`);
  const [command, ...args] = env.BROWSER ? [env.BROWSER] : (OPENERS[process.platform] ?? ["xdg-open"]);
  const PATH = pathWithout([process.cwd()], env.PATH ?? "");
  const browser = spawn(command, [...args, address.href], { stdio: "ignore", detached: true, env: { ...env, PATH } });
  // There may be no browser: the address is on the screen.
  browser.on("error", () => {});
  browser.unref();
}
