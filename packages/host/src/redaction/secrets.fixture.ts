import { generateKeyPairSync, randomBytes, randomInt } from "node:crypto";

// Generated secrets, always different, so that no scanner finds a secret in this repository.

const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER = UPPER.toLowerCase();
const DIGITS = "0123456789";
const WORD = UPPER + LOWER + DIGITS;
const HEX = `${DIGITS}abcdef`;

/** A random text of this length. */
export function random(length: number, alphabet = WORD): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");
}

function base64(bytes: number): string {
  return randomBytes(bytes).toString("base64");
}

function base64url(value: object | number): string {
  return Buffer.from(typeof value === "number" ? randomBytes(value) : JSON.stringify(value)).toString("base64url");
}

/** A JSON Web Token. */
export function jwt(): string {
  return [{ alg: "HS256", typ: "JWT" }, { sub: random(10), iat: 1 }, 32].map(base64url).join(".");
}

/** A private key in lines, as in files. */
export function privateKey(kind = "RSA PRIVATE KEY"): string {
  const lines = base64(1_200).match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${kind}-----`, ...lines, `-----END ${kind}-----`].join("\n");
}

/** A private key hidden in a text, and the part that must be redacted. */
export interface HiddenKey {
  readonly content: string | Buffer;
  readonly secret: string;
}

/** Different private keys as in files, each in another form, between harmless lines. */
export function hiddenKeys(): Readonly<Record<string, HiddenKey>> {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const ec = generateKeyPairSync("ec", { namedCurve: "P-521" }).privateKey;
  const pem = (type: "pkcs1" | "pkcs8") => String(rsa.export({ type, format: "pem" })).trimEnd();
  const within = (text: string) => `# how to get in\nhost: example.org\n\n${text}\n\n# and out again\nuser: me\n`;
  const plain = (secret: string, text = secret): HiddenKey => ({ content: within(text), secret });
  const each = (key: string, change: (line: string) => string) => key.split("\n").map(change).join("\n");
  const [openssh, pgp, quoted, yaml, json, crlf, wide, narrow, encoded, twice, little, big] = [
    "OPENSSH PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
    ...Array.from({ length: 10 }, () => "RSA PRIVATE KEY"),
  ].map((kind) => privateKey(kind)) as [string, ...string[]] & Readonly<Record<number, string>>;
  const inBase64 = (key = "") => Buffer.from(key).toString("base64");
  const wrapped = inBase64(encoded).match(/.{1,76}/g) ?? [];
  return {
    "PKCS #1": plain(pem("pkcs1")),
    "PKCS #8": plain(pem("pkcs8")),
    "SEC 1": plain(String(ec.export({ type: "sec1", format: "pem" })).trimEnd()),
    OpenSSH: plain(openssh.replace(/[^\n]{64}\n/g, (line) => line)),
    PGP: plain(pgp ?? ""),
    encrypted: plain(
      narrow ?? "",
      (narrow ?? "").replace("\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n"),
    ),
    quoted: plain(
      quoted ?? "",
      each(quoted ?? "", (line) => `  > ${line}`),
    ),
    YAML: plain(yaml ?? "", `key: |\n${each(yaml ?? "", (line) => `    ${line}`)}`),
    JSON: plain(json ?? "", JSON.stringify({ type: "service_account", private_key: json, client: "me" }, null, 2)),
    "strings of a program": plain(
      wide ?? "",
      each(wide ?? "", (line) => `  "${line}\\n" +`),
    ),
    CRLF: plain(crlf ?? "", (crlf ?? "").replaceAll("\n", "\r\n")),
    "base64 in lines": plain(`${encoded}\n${wrapped.join("\n")}`, wrapped.join("\n")),
    "base64 in one line": plain(`${twice}\n${inBase64(twice)}`, `tls.key: ${inBase64(twice)}`),
    "UTF-16LE": { content: Buffer.from(`\ufeff${within(little ?? "")}`, "utf16le"), secret: little ?? "" },
    "UTF-16BE": { content: Buffer.from(`\ufeff${within(big ?? "")}`, "utf16le").swap16(), secret: big ?? "" },
  };
}

/** Number of consecutive characters that give a secret away. */
const TELLING = 16;

/** The first such part of a secret in a text; undefined if there is none. The header lines of a key do not count. */
export function toldOf(secret: string, text: string): string | undefined {
  for (const line of secret.split("\n").filter((line) => !line.startsWith("-----")))
    for (let at = 0; at + TELLING <= line.length; at += 1)
      if (text.includes(line.slice(at, at + TELLING))) return line.slice(at, at + TELLING);
  return undefined;
}

/** Secrets by the kind under which they are redacted. */
export function secrets(): Readonly<Record<string, readonly string[]>> {
  return {
    "anthropic-key": [`sk-ant-api03-${random(93, `${WORD}-_`)}AA`],
    "openai-key": [
      `sk-proj-${random(74)}T3BlbkFJ${random(74)}`,
      `sk-${random(20)}T3BlbkFJ${random(20)}`,
      `sk-or-v1-${random(64, HEX)}`,
    ],
    "google-key": [`AIza${random(35, `${WORD}-_`)}`],
    "google-token": [`ya29.${random(120, `${WORD}-_`)}`, `GOCSPX-${random(28)}`],
    "groq-key": [`gsk_${random(52)}`],
    "huggingface-token": [`hf_${random(34, UPPER + LOWER)}`],
    "github-token": [
      ...["ghp", "gho", "ghu", "ghs", "ghr"].map((prefix) => `${prefix}_${random(36)}`),
      `github_pat_${random(22)}_${random(59)}`,
      `ghs_${random(6, DIGITS)}_${jwt()}`,
    ],
    "gitlab-token": [`glpat-${random(20)}`, `gldt-${random(20)}`],
    "npm-token": [`npm_${random(36)}`],
    "docker-token": [`dckr_pat_${random(27)}`],
    "aws-key": [`AKIA${random(16, UPPER + DIGITS)}`, `ASIA${random(16, UPPER + DIGITS)}`],
    "digitalocean-token": [`dop_v1_${random(64, HEX)}`],
    "cloudflare-token": [`cfut_${random(40)}${random(8, HEX)}`],
    "vercel-token": [`vcp_${random(56)}`],
    "databricks-token": [`dapi${random(32, HEX)}`],
    "vault-token": [`hvs.${random(95, `${WORD}-_`)}`],
    "grafana-token": [`glsa_${random(32)}_${random(8, HEX)}`, `glc_${random(64)}`],
    "tailscale-key": [`tskey-auth-${random(16)}-${random(32)}`],
    "slack-token": [
      `xoxb-${random(12, DIGITS)}-${random(13, DIGITS)}-${random(24)}`,
      `xapp-1-${random(11)}-${random(13, DIGITS)}-${random(64, HEX)}`,
    ],
    "slack-webhook": [`hooks.slack.com/services/T${random(8)}/B${random(10)}/${random(24)}`],
    "stripe-key": [`sk_live_${random(24)}`, `rk_test_${random(99)}`],
    "sendgrid-key": [`SG.${random(22)}.${random(43)}`],
    "shopify-token": [`shpat_${random(32, HEX)}`, `shpss_${random(32, HEX)}`],
    "notion-token": [`ntn_${random(11, DIGITS)}${random(35)}`],
    "linear-key": [`lin_api_${random(40)}`],
    "figma-token": [`figd_${random(40, `${WORD}-_`)}`],
    "telegram-token": [`${random(10, DIGITS)}:AA${random(33, `${WORD}-_`)}`],
    jwt: [jwt()],
    "private-key": [privateKey(), privateKey("OPENSSH PRIVATE KEY"), privateKey("PRIVATE KEY").replaceAll("\n", "\\n")],
  };
}
