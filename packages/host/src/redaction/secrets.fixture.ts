import { randomBytes, randomInt } from "node:crypto";

// Secrets as they are made, never the same twice, so that no scanner of this repository finds one in it.

const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER = UPPER.toLowerCase();
const DIGITS = "0123456789";
const WORD = UPPER + LOWER + DIGITS;
const HEX = `${DIGITS}abcdef`;

/** A random text of so many characters. */
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

/** A private key in lines, as files hold it. */
export function privateKey(kind = "RSA PRIVATE KEY"): string {
  const lines = base64(1_200).match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${kind}-----`, ...lines, `-----END ${kind}-----`].join("\n");
}

/** One secret of each kind, by the kind that it is redacted as. */
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
