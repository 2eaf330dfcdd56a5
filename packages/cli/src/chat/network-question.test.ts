import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { banyan, home } from "../testing/banyan.ts";
import { links } from "../testing/links.ts";
import { modelServer, shell } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const web = createServer((_, response) => response.end("hello"));
let address = "";
let get = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  address = `127.0.0.1:${(web.address() as AddressInfo).port}`;
  get = `curl -s --noproxy '' http://${address} > got.txt`;
});
afterAll(() => web.close());

const SANDBOX = { BANYAN_SANDBOX: "auto" };
const MODEL = ["--model", "openai-compatible/test"];
const looks = links.flatMap(({ link, open }) => ["full", "plain"].map((look) => ({ look, link, open })));

describe.skipIf(!hasTmux).each(looks)("a command that connects ($look, $link)", ({ look, open }) => {
  test("S38, S41: asks about the address; always is stored and shown, and /sandbox drop revokes it", async () => {
    using place = home();
    const settings = join(place.env.BANYAN_HOME ?? "", "config", "settings.json");
    await using model = await modelServer(shell(get), { text: "Done." });
    const flags = [...MODEL, "--allow", "shell", ...(look === "plain" ? ["--plain"] : [])];
    using pty = await open(place, flags, { ...model.env, ...SANDBOX });
    await pty.prompted();
    pty.enter("go");
    const asked = await (look === "plain"
      ? pty.until("A number:")
      : pty.asked("Choose with a digit or arrow keys · Enter sends"));
    expect(asked).toMatch(new RegExp(`^Connect to ${RegExp.escape(address)}\\?$`, "m"));
    pty.enter("3");
    await pty.until("Done.");
    expect(readFileSync(join(place.workspace, "got.txt"), "utf8")).toBe("hello");
    expect(JSON.parse(readFileSync(settings, "utf8"))).toEqual({ sandbox: { network: { allow: [address] } } });
    await pty.prompted();
    await pty.exchange("/sandbox", `${address}, in all conversations`);
    await pty.exchange(`/sandbox drop ${address}`, `Commands can no longer reach ${address}.`);
    expect(JSON.parse(readFileSync(settings, "utf8"))).toEqual({ sandbox: { network: { allow: [] } } });
  });
});

test("S38: in print mode nobody is asked: the connection is refused, and the model learns the flag that allows it", async () => {
  using place = home();
  const calls = [shell(get), { text: "Done." }];
  await using refused = await modelServer(...calls);
  const how = { env: { ...refused.env, ...SANDBOX } };
  expect((await banyan(place, ["-p", "go", ...MODEL, "--allow", "shell"], how)).code).toBe(0);
  expect(JSON.stringify(refused.asked[1])).toContain(
    `The sandbox refused the connection to ${address}. No user can be asked here. The flag --network ${address} or`,
  );
  await using allowed = await modelServer(...calls);
  const flags = ["-p", "go", ...MODEL, "--allow", "shell", "--network", address];
  await banyan(place, flags, { env: { ...allowed.env, ...SANDBOX } });
  expect(JSON.stringify(allowed.asked[1])).not.toContain("refused");
  expect(readFileSync(join(place.workspace, "got.txt"), "utf8")).toBe("hello");
});

test.skipIf(!hasTmux)(
  "S40: after a failure at a limit of the sandbox, a user lets the command run once outside",
  async () => {
    using place = home();
    const outside = mkdtempSync(join(tmpdir(), "banyan-outside-"));
    try {
      const command = `touch ${outside}/a`;
      await using model = await modelServer(shell(command), { text: "Done." });
      using pty = Pty.open(place, [...MODEL, "--allow", "shell"], { ...model.env, ...SANDBOX });
      await pty.prompted();
      pty.enter("go");
      const asked = await pty.asked("Choose with a digit or arrow keys · Enter sends");
      for (const line of [`${outside}/a is read-only.`, command, "Yes, run it once outside the sandbox"])
        expect(asked).toContain(line);
      pty.enter("1");
      await pty.until("Done.");
      expect(existsSync(join(outside, "a"))).toBe(true);
      expect(JSON.stringify(model.asked[1])).toContain("The user allowed one run outside the sandbox");
    } finally {
      rmSync(outside, { recursive: true });
    }
  },
);
