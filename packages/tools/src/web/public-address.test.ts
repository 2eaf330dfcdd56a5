import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { isPublicAddress } from "./index.ts";

test.each([
  "8.8.8.8",
  "93.184.216.34",
  "1.1.1.1",
  "2606:4700:4700::1111",
  "2a00:1450:4001::8a",
  "64:ff9b::8.8.8.8",
  "::ffff:8.8.8.8",
])("S11: %s is public", (address) => expect(isPublicAddress(address)).toBe(true));

test.each([
  ["this machine", ["127.0.0.1", "127.255.255.254", "0.0.0.0", "::1", "::"]],
  [
    "private networks",
    ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1", "fec0::1"],
  ],
  [
    "link-local, and the doors of clouds there",
    ["169.254.0.1", "169.254.169.254", "fe80::1", "fe80::1%eth0", "fd00:ec2::254"],
  ],
  ["doors of clouds elsewhere", ["168.63.129.16", "100.100.100.200", "192.0.0.192"]],
  ["shared by a provider's customers (CGNAT)", ["100.64.0.1", "100.127.255.255"]],
  ["many at once", ["224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1"]],
  [
    "reserved, documentation, benchmarks",
    ["192.0.2.1", "198.18.0.1", "203.0.113.7", "240.0.0.1", "2001:db8::1", "100::1", "4000::1"],
  ],
  [
    "an IPv4 address in IPv6",
    [
      "::ffff:127.0.0.1",
      "::ffff:7f00:1",
      "::127.0.0.1",
      "::7f00:1",
      "::ffff:0:127.0.0.1",
      "64:ff9b::7f00:1",
      "64:ff9b::10.0.0.1",
      "64:ff9b:1::7f00:1",
    ],
  ],
  ["tunnels", ["2002:7f00:1::", "2002:808:808::1", "2001::1"]],
  ["no addresses", ["", "localhost", "example.org", "1.2.3.4.5", "0x7f.1.1.1.1", "127.0.0.1:80"]],
])("S11: %s is not public", (_, addresses) => {
  expect(addresses.filter((address) => isPublicAddress(address))).toEqual([]);
});

test("S11: the addresses of this machine are not public", () => {
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
  expect(own.length).toBeGreaterThan(0);
  expect(isPublicAddress("8.8.8.8", new Set(["8.8.8.8"]))).toBe(false);
  expect(own.filter((address) => isPublicAddress(address))).toEqual([]);
});
