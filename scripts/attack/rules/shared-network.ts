import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { type Attack, NotTried, type Place } from "../attack.ts";
import { inSandbox } from "../in-sandbox.ts";

// S39: a sandboxed command reaches no program of the machine, and changes nothing about the network that it shares.

const SCRIPT = `
import ctypes, fcntl, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
def flags(value): fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", value))
def reach(family, host): socket.create_connection((host, PORT), 2).sendall(b"evil")
`;

/** Python lines of a command that tries to reach the server at \`PORT\` of the machine. */
const ways: Readonly<Record<string, string>> = {
  "127.0.0.1": 'reach(socket.AF_INET, "127.0.0.1")',
  "::1": 'reach(socket.AF_INET6, "::1")',
  localhost: 'reach(socket.AF_INET, "localhost")',
  "an address of 127.0.0.0/8": 'reach(socket.AF_INET, "127.9.9.9")',
  "0.0.0.0": 'reach(socket.AF_INET, "0.0.0.0")',
  "a mapped address": 'reach(socket.AF_INET6, "::ffff:127.0.0.1")',
  "the addresses of the machine": "[reach(socket.AF_INET, host) for host in ADDRESSES]",
  "the network of process 1": 'libc.setns(os.open("/proc/1/ns/net", 0), 0); reach(socket.AF_INET, "127.0.0.1")',
  "the networks of all processes":
    '[libc.setns(os.open(f"/proc/{id}/ns/net", 0), 0) for id in os.listdir("/proc") if id.isdigit()]; reach(socket.AF_INET, "127.0.0.1")',
  "a namespace of its own": 'libc.unshare(0x50000000); reach(socket.AF_INET, "127.0.0.1")',
  "a raw socket":
    's = socket.socket(socket.AF_INET, socket.SOCK_RAW, 255); s.sendto(b"evil", ("127.0.0.1", 0)); reach(socket.AF_INET, "127.0.0.1")',
  "a packet socket":
    's = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); s.bind(("lo", 0)); reach(socket.AF_INET, "127.0.0.1")',
};

/** Python lines that must fail, because they change the shared network. */
const changes: Readonly<Record<string, string>> = {
  "takes the loopback down": "flags(0)",
  "sends packets of other programs": "socket.socket(socket.AF_INET, socket.SOCK_RAW, 6)",
  "listens to packets of other programs": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 768)",
  "mounts the root folder again": 'assert libc.mount(None, b"/", None, 0x21, None) == 0',
};

export const attacks: readonly Attack[] = [
  ...Object.entries(ways).map(([name, line]) => reaching(name, line)),
  ...Object.entries(changes).map(([name, line]) => changing(name, line)),
];

function reaching(name: string, line: string): Attack {
  return {
    rule: "S39",
    name: `a server of this machine by ${name}`,
    async attempt(place) {
      let connections = 0;
      const server = createServer((socket) => {
        connections += 1;
        socket.destroy();
      });
      server.listen(0, "::");
      await once(server, "listening");
      place.defer(() => server.close());
      const { port } = server.address() as AddressInfo;
      const own = Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));
      const head = `PORT = ${port}\nADDRESSES = ${JSON.stringify(own.filter((address) => !address.includes(":")))}\n`;
      await inPython(place, head + line);
      return connections > 0 ? "a command reached it" : undefined;
    },
  };
}

function changing(name: string, line: string): Attack {
  return {
    rule: "S39",
    name: `a command ${name}`,
    async attempt(place) {
      const said = await inPython(place, `${line}\nprint("suc" + "ceeded")`);
      return said.includes("succeeded") ? "it succeeded" : undefined;
    },
  };
}

async function inPython(place: Place, lines: string): Promise<string> {
  if (spawnSync("python3", ["-V"]).status !== 0) throw new NotTried("there is no python3");
  writeFileSync(join(place.folder, "attack.py"), SCRIPT + lines);
  return inSandbox(place, "python3 attack.py");
}
