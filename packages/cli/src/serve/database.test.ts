import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  killPostgres,
  type LocalPostgres,
  makePairs,
  type Pair,
  startPair,
  superuser,
  whyNoPostgres,
} from "@banyan/store/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { banyan, type Ended, home } from "../testing/banyan.ts";

const LONG = Boolean(process.env.BANYAN_LONG) && whyNoPostgres === undefined;
const SECRET = "hunter2-secret";
const HAS_OPENSSL = spawnSync("openssl", ["version"]).status === 0;

const serving = (store: string) => ["serve", "--model", "demo/offline", "--port", "0", "--store", store];
const nodes = (store: string) => ["nodes", "--store", store];

describe.skipIf(!LONG)("a database that servers cannot use", () => {
  const folder = `${process.env.TMPDIR}-postgres-refusing`;
  let pair: Pair;

  beforeAll(async () => {
    await makePairs(folder);
    pair = await startPair(folder, "refusing");
    const { url } = pair.primary;
    const data = join(folder, "refusing primary", "data");
    const rules = join(data, "pg_hba.conf");
    writeFileSync(rules, `host all guarded 127.0.0.1/32 scram-sha-256\n${readFileSync(rules, "utf8")}`);
    await superuser(url, "CREATE ROLE guarded LOGIN PASSWORD 'right'");
    await superuser(url, "CREATE ROLE reader LOGIN");
    for (const name of ["made", "newer", "empty"]) await superuser(url, `CREATE DATABASE ${name}`);
    using place = home();
    for (const name of ["made", "newer"])
      expect(await banyan(place, nodes(of(pair.primary, { pathname: name })))).toMatchObject({ code: 0 });
    await superuser(of(pair.primary, { pathname: "newer" }), "UPDATE banyan.schema_version SET version = 1000");
    if (HAS_OPENSSL) {
      const files = ["-keyout", "other.key", "-out", "other.pem"];
      const names = ["-subj", "/CN=other", "-addext", "subjectAltName=DNS:db.example.org"];
      const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...names, ...files];
      expect(spawnSync("openssl", made, { cwd: data }).status).toBe(0);
      // The server's user must own its key.
      spawnSync("chown", ["--reference", rules, join(data, "other.key"), join(data, "other.pem")]);
      copyFileSync(join(data, "other.pem"), join(folder, "other.pem"));
      await superuser(url, "ALTER SYSTEM SET ssl_cert_file = 'other.pem'");
      await superuser(url, "ALTER SYSTEM SET ssl_key_file = 'other.key'");
      await superuser(url, "ALTER SYSTEM SET ssl = on");
    }
    await superuser(url, "SELECT pg_reload_conf()");
  });
  afterAll(async () => {
    for (const server of [pair.standby, pair.primary]) await killPostgres(server);
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  });

  /** The URL of a server with changed parts. */
  const of = (server: LocalPostgres, change: Partial<URL> = {}) => Object.assign(new URL(server.url), change).href;
  const wrong = (change: Partial<URL>) => of(pair.primary, { password: SECRET, ...change });

  type Row = readonly [what: string, address: () => string, told: RegExp];
  const noAddress: readonly Row[] = [
    ["another scheme", () => "mysql://a@b/c", /it is not an address\. Write it as postgres:/],
    ["a port that can be none", () => `postgres://me:${SECRET}@host:port/db`, /it is not an address/],
    ["no database in it", () => wrong({ pathname: "" }), /it names no database/],
    ["a setting that is none", () => wrong({ search: "?sslmode=prefer" }), /its sslmode must be one of/],
    ["a file that is not there", () => wrong({ search: "?sslmode=verify-full&sslrootcert=/no.pem" }), /ENOENT/],
  ];
  const noUse: readonly Row[] = [
    ["nobody who listens", () => wrong({ port: "1" }), /does not answer .*check that the server runs/],
    ["no such host", () => wrong({ hostname: "no-such-host.invalid" }), /No host was found for/],
    ["no such database", () => wrong({ pathname: "none" }), /no such database\. Create it with createdb/],
    ["a wrong password", () => wrong({ username: "guarded" }), /rejects the user guarded; check the user/],
    ["no such user", () => wrong({ username: "nobody" }), /rejects the user nobody/],
    [
      "no right to make tables",
      () => wrong({ username: "reader", pathname: "empty" }),
      /grant that user CREATE on the/,
    ],
    ["no right to tables of others", () => wrong({ username: "reader", pathname: "made" }), /denies user reader/],
    ["tables of a newer program", () => wrong({ pathname: "newer" }), /are of version 1000, but this program knows/],
    [
      "a standby without tables",
      () => of(pair.standby, { pathname: "empty" }),
      /accepts no writes now .*use the address of the primary/,
    ],
    ["no TLS", () => of(pair.standby, { search: "?sslmode=require" }), /cannot be secured .*does not support SSL/],
  ];
  const otherHost = () => wrong({ search: `?sslmode=verify-full&sslrootcert=${join(folder, "other.pem")}` });
  const noTrust: readonly Row[] = [
    ["a certificate of another host", otherHost, /cannot be secured .*altnames.*check sslmode/],
    [
      "a certificate of nobody known",
      () => wrong({ search: "?sslmode=verify-full" }),
      /cannot be secured .*self-signed/,
    ],
  ];

  for (const [exit, rows] of [
    [2, noAddress],
    [1, noUse],
    [1, HAS_OPENSSL ? noTrust : []],
  ] as const)
    for (const [what, address, told] of rows)
      test(`${what}: one sentence on the error output, without the password, and exit code ${exit}`, async () => {
        using place = home();
        for (const command of [serving, nodes]) expectRefused(await banyan(place, command(address())), exit, told);
      });

  test("a standby that has the tables can be looked at, and no server begins with it", async () => {
    using place = home();
    const address = of(pair.standby, { pathname: "made" });
    expectRefused(await banyan(place, serving(address)), 1, /takes no writes now .*name the primary/);
    const stdout = "No running server uses this database.\n";
    expect(await banyan(place, nodes(address))).toEqual({ code: 0, stdout, stderr: "" });
  });
});

function expectRefused({ code, stdout, stderr }: Ended, exit: number, told: RegExp): void {
  expect({ code, stdout }).toEqual({ code: exit, stdout: "" });
  expect(stderr).toMatch(told);
  expect(stderr).toMatch(/^banyan: [^\n]+\.\n$/);
  expect(stderr).not.toContain(SECRET);
}
