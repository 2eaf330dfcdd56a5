import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StoreError } from "@banyan/core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { events, readAll } from "../sqlite/store.fixture.ts";
import {
  killPostgres,
  type LocalPostgres,
  makeFolder,
  restartPostgres,
  startPostgres,
  whyNoPostgres,
} from "../testing/postgres-server.fixture.ts";
import { postgresStore } from "./index.ts";

const HAS_OPENSSL = spawnSync("openssl", ["version"]).status === 0;
const why = whyNoPostgres ?? (HAS_OPENSSL ? undefined : "there is no openssl");
const LONG = Boolean(process.env.BANYAN_LONG);
const title = why === undefined ? "" : ` (skipped: ${why})`;

describe.skipIf(why !== undefined || !LONG)(`a server with a certificate${title}`, () => {
  const certificates = mkdtempSync(join(tmpdir(), "banyan-certificates-"));
  const folder = `${process.env.TMPDIR}-postgres-tls`;
  const authority = join(certificates, "ca.pem");
  let server: LocalPostgres;

  beforeAll(async () => {
    openssl("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem");
    certificate("good", "DNS:localhost,IP:127.0.0.1", ["-days", "2"]);
    certificate("elsewhere", "DNS:db.example.org", ["-days", "2"]);
    certificate("expired", "DNS:localhost,IP:127.0.0.1", ["-days", "-1"]);
    openssl(
      "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout own.key -out own.pem",
    );
    makeFolder(folder);
    server = await startPostgres(folder);
  });
  afterAll(async () => {
    await killPostgres(server);
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
    rmSync(certificates, { recursive: true, force: true });
  });

  function openssl(args: string): void {
    const { status, stderr } = spawnSync("openssl", args.split(" "), { cwd: certificates, encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
  }

  function certificate(name: string, names: string, validity: readonly string[]): void {
    writeFileSync(join(certificates, `${name}.ext`), `subjectAltName=${names}\n`);
    openssl(`req -newkey rsa:2048 -nodes -subj /CN=${name} -keyout ${name}.key -out ${name}.csr`);
    openssl(
      `x509 -req -in ${name}.csr -CA ca.pem -CAkey ca.key -extfile ${name}.ext -out ${name}.pem ${validity.join(" ")}`,
    );
  }

  /** Restarts the server with this certificate. */
  async function showing(name: string): Promise<URL> {
    const { port } = new URL(server.url);
    await killPostgres(server);
    for (const kind of ["pem", "key"]) {
      const file = join(folder, `server.${kind}`);
      copyFileSync(join(certificates, `${name}.${kind}`), file);
      chmodSync(file, 0o600);
      if (process.getuid?.() === 0) spawnSync("chown", ["65534:65534", file]);
    }
    const files = [
      "-c",
      `ssl_cert_file=${join(folder, "server.pem")}`,
      "-c",
      `ssl_key_file=${join(folder, "server.key")}`,
    ];
    server = await restartPostgres(folder, Number(port), ["-c", "ssl=on", ...files]);
    return new URL(server.url.replace("127.0.0.1", "localhost"));
  }

  function storeWith(url: URL, search: string) {
    const store = postgresStore(`${url}?${search}`);
    onTestFinished(() => store.close());
    return store;
  }

  test("one that fits is believed, and what is written there is kept", async () => {
    const url = await showing("good");
    const store = storeWith(url, `sslmode=verify-full&sslrootcert=${authority}`);
    const log = await store.open("safe", { create: true });
    await log.append(events(log, 2), { durable: true });
    expect(await readAll(log)).toHaveLength(2);
  });

  test.each([
    ["elsewhere", "verify-full", "ca", "does not match certificate's altnames"],
    ["expired", "verify-full", "ca", "expired"],
    ["own", "verify-full", "ca", "self-signed"],
    ["good", "verify-full", "own", "unable to verify|unable to get|self-signed"],
    ["expired", "verify-ca", "ca", "expired"],
  ])("%s, with %s by %s, is refused in one sentence that says why", async (name, mode, root, reason) => {
    const url = await showing(name);
    const refusal = await storeWith(url, `sslmode=${mode}&sslrootcert=${join(certificates, `${root}.pem`)}`)
      .list()
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StoreError);
    expect(refusal).toMatchObject({ code: "unusable", message: expect.stringMatching(reason) });
    expect((refusal as Error).message).toContain("cannot be secured");
  });

  test("that of another host is believed by verify-ca, and any by require", async () => {
    const url = await showing("elsewhere");
    expect(await storeWith(url, `sslmode=verify-ca&sslrootcert=${authority}`).list()).toHaveLength(1);
    expect(await storeWith(url, "sslmode=require").list()).toHaveLength(1);
    expect(readFileSync(join(folder, "log"), "utf8")).not.toContain("PANIC");
  });
});
