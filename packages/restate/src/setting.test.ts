import { expect, test } from "vitest";
import { DriverError, readRestate } from "./index.ts";

test("an address alone says all: the rest is as Restate has it, on this machine", () => {
  expect(readRestate("http://127.0.0.1:8080")).toEqual({
    ingress: ["http://127.0.0.1:8080"],
    admin: "http://127.0.0.1:9070",
    listen: { host: "127.0.0.1", port: 9080 },
    servers: "http://127.0.0.1:9080",
    keys: [],
  });
});

test("several addresses, and each part of the setting, are read", () => {
  const text =
    "http://a:8080,http://b:8080?admin=none&listen=[::]:9081&servers=https://runs.internal&key=publickeyv1_1&key=publickeyv1_2";
  expect(readRestate(text)).toEqual({
    ingress: ["http://a:8080", "http://b:8080"],
    admin: undefined,
    listen: { host: "::", port: 9081 },
    servers: "https://runs.internal",
    keys: ["publickeyv1_1", "publickeyv1_2"],
  });
});

const HOME = "http://127.0.0.1:8080";

test.each([
  ["", "restate must be an address such as http://127.0.0.1:8080, not empty."],
  ["127.0.0.1:8080", "restate must be an address such as http://127.0.0.1:8080, not 127.0.0.1:8080."],
  ["http://a:8080/path", "restate must be an address such as http://127.0.0.1:8080, not http://a:8080/path."],
  ["http://a:8080,", "restate must be an address such as http://127.0.0.1:8080, not empty."],
  [`${HOME}?port=3`, "restate takes admin, listen, servers, key, not port."],
  [`${HOME}?admin=here`, "restate's admin must be an address such as http://127.0.0.1:8080, not here."],
  [`${HOME}?admin=none&admin=none`, "restate takes admin once."],
  [`${HOME}?servers=ftp://a`, "restate's servers must be an address such as http://127.0.0.1:8080, not ftp://a."],
  [`${HOME}?listen=9080`, "restate's listen must be an address and a port such as 127.0.0.1:9080, not 9080."],
  [
    `${HOME}?listen=127.0.0.1:0`,
    "restate's listen must be an address and a port such as 127.0.0.1:9080, not 127.0.0.1:0.",
  ],
  [
    `${HOME}?listen=0.0.0.0:9080`,
    "restate's listen 0.0.0.0 lets other machines drive turns: name Restate's key=publickeyv1_... too, or listen at 127.0.0.1.",
  ],
  [`${HOME}?key=secret`, "restate's key must begin with publickeyv1_, as in Restate's log at its start. It is secret."],
])("%s is refused in one sentence", (text, message) => {
  expect(() => readRestate(text)).toThrow(new DriverError(message));
});
