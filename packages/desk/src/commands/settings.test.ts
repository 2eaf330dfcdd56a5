import { expect, test } from "vitest";
import { settingsHandlers } from "./settings.ts";
import type { Workplace } from "./workplace.ts";

/** A desk whose sandbox hides paths, and whose user always opens some ports. */
function deskWith(hiddenIn: (folder: string) => Promise<readonly string[]>) {
  const ports = [5173, 8080];
  const openPorts = {
    list: (folder: string) => (folder === "/work/garden" ? ports : []),
    remove: (folder: string, port: number) => folder === "/work/garden" && ports.includes(port),
  };
  const ready = async () => ({ sandbox: "In a sandbox.", network: undefined, openPorts, hiddenIn });
  return { host: { workspace: "/work/garden", ready } } as unknown as Workplace;
}

const of = (more: object = {}) => ({ type: "sandbox.read", id: "1", ...more }) as never;
const read = (desk: Workplace) => settingsHandlers["sandbox.read"](of(), desk, undefined as never);
const revoke = (address: string, desk: Workplace) =>
  settingsHandlers["address.revoke"](of({ address }), desk, undefined as never);

test("S39, S42: a client reads the ports that always open, and the hidden paths, from the workspace", async () => {
  const desk = deskWith(async () => ["/work/garden/.env", "/work/garden/..keys", "/work/other/key", "/srv/keys"]);
  expect(await read(desk)).toEqual({
    state: "In a sandbox.",
    addresses: [],
    ports: [5173, 8080],
    hidden: [".env", "..keys", "/work/other/key", "/srv/keys"],
  });
});

test("S42: a failed search for hidden paths is a part of the state", async () => {
  const desk = deskWith(() => Promise.reject(new Error("Too many files.")));
  expect(await read(desk)).toMatchObject({ state: "In a sandbox. Too many files.", hidden: [] });
});

test("S39: a client revokes a port", async () => {
  const desk = deskWith(async () => []);
  expect(await revoke(":5173", desk)).toEqual({ revoked: true });
  expect(await revoke(":1", desk)).toEqual({ revoked: false });
  expect(await revoke("example.org", desk)).toEqual({ revoked: false });
});
