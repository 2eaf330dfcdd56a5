import type { SecretSpan } from "./span.ts";

/** A secret that is recognizable by its form alone. */
interface SecretFormat {
  readonly kind: string;
  /** A regular expression without groups, of bounded length: a hostile text must not keep it busy. */
  readonly form: string;
  /** The source of the form. */
  readonly source: string;
}

// For vendors without documentation, the rules of gitleaks and secretlint are the source:
// https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml, https://github.com/secretlint/secretlint.
const GITLEAKS = "gitleaks";
const SECRETLINT = "secretlint";

/**
 * Matches an escape in JSON, code or an address, or of a terminal colour. Its letters are not part of the next word, as
 * in `"\nghp_..."`. A lookbehind at every letter would be slow.
 */
export const ESCAPE = "(?:\\\\(?:[abefnrtv]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})|%[0-9A-Fa-f]{2}|\\[[0-9;]{0,12}m)";

const FORMATS: readonly SecretFormat[] = [
  {
    kind: "jwt",
    form: `(?=eyJ)(?:(?<![\\w-])|(?<=${ESCAPE}))eyJ[\\w-]{10,2048}\\.[\\w-]{10,4096}\\.[\\w-]{10,1024}`,
    source: "https://www.rfc-editor.org/rfc/rfc7519",
  },
  // Models.
  { kind: "anthropic-key", form: "sk-ant-[a-z0-9]{2,12}-[\\w-]{20,200}", source: GITLEAKS },
  {
    kind: "openai-key",
    form: "sk-(?:proj|svcacct|admin|or-v1)-[\\w-]{20,200}|sk-[A-Za-z0-9]{32,100}",
    source: GITLEAKS,
  },
  { kind: "google-key", form: "AIza[\\w-]{35}", source: GITLEAKS },
  {
    kind: "google-token",
    form: "ya29\\.[\\w-]{20,1024}|GOCSPX-[\\w-]{28}",
    source: "https://cloud.google.com/docs/authentication",
  },
  { kind: "groq-key", form: "gsk_[A-Za-z0-9]{40,60}", source: SECRETLINT },
  { kind: "xai-key", form: "xai-[A-Za-z0-9]{70,100}", source: "https://docs.x.ai" },
  { kind: "huggingface-token", form: "(?:hf|api_org)_[A-Za-z]{34,40}", source: GITLEAKS },
  { kind: "perplexity-key", form: "pplx-[A-Za-z0-9]{40,60}", source: GITLEAKS },
  { kind: "replicate-token", form: "r8_[A-Za-z0-9]{37,40}", source: "https://replicate.com/docs/reference/http" },
  // Code and packages.
  {
    kind: "github-token",
    form: "ghs_[0-9]{1,20}_[\\w-]{1,1024}\\.[\\w-]{1,4096}\\.[\\w-]{1,1024}|gh[pousr]_\\w{36,255}|github_pat_\\w{22,255}",
    source: "https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/",
  },
  {
    kind: "gitlab-token",
    form: "gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct|oas)-[\\w.-]{20,300}",
    source: "https://docs.gitlab.com/security/tokens/#token-prefixes",
  },
  { kind: "npm-token", form: "npm_[A-Za-z0-9]{36,64}", source: SECRETLINT },
  { kind: "pypi-token", form: "pypi-[\\w-]{50,1024}", source: GITLEAKS },
  { kind: "docker-token", form: "dckr_(?:pat|oat)_[\\w-]{27,64}", source: SECRETLINT },
  // Clouds.
  {
    kind: "aws-key",
    form: "(?:A3T[A-Z0-9]|AKIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    source: "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html",
  },
  { kind: "digitalocean-token", form: "do[opr]_v1_[a-f0-9]{64}", source: GITLEAKS },
  { kind: "cloudflare-token", form: "cf(?:k|ut|at)_[A-Za-z0-9]{40,64}", source: SECRETLINT },
  { kind: "vercel-token", form: "vc[piark]_[A-Za-z0-9]{20,60}", source: SECRETLINT },
  { kind: "databricks-token", form: "dapi[a-f0-9]{32}", source: GITLEAKS },
  { kind: "vault-token", form: "hv[sbr]\\.[\\w-]{20,300}", source: GITLEAKS },
  { kind: "grafana-token", form: "glc_[A-Za-z0-9+/]{32,400}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}", source: GITLEAKS },
  { kind: "tailscale-key", form: "tskey-[a-z]{2,20}-\\w{8,40}-\\w{16,60}", source: SECRETLINT },
  { kind: "age-key", form: "AGE-SECRET-KEY-1[0-9A-Z]{58}", source: GITLEAKS },
  { kind: "1password-token", form: "ops_eyJ[A-Za-z0-9+/=]{100,2048}", source: GITLEAKS },
  // Services.
  {
    kind: "slack-token",
    form: "x(?:ox[abeoprs]|app)-[\\w.-]{10,300}",
    source: "https://api.slack.com/authentication/token-types",
  },
  {
    kind: "slack-webhook",
    form: "hooks\\.slack\\.com/(?:services|workflows|triggers)/[\\w/]{20,120}",
    source: GITLEAKS,
  },
  { kind: "discord-webhook", form: "discord(?:app)?\\.com/api/webhooks/[0-9]{16,20}/[\\w-]{60,80}", source: GITLEAKS },
  {
    kind: "telegram-token",
    form: "[0-9]{8,10}:AA[\\w-]{33}(?![\\w-])",
    source: "https://core.telegram.org/bots/features#botfather",
  },
  {
    kind: "stripe-key",
    form: "[sr]k_(?:live|test)_[A-Za-z0-9]{24,128}|whsec_[A-Za-z0-9+/=]{24,128}",
    source: "https://docs.stripe.com/keys",
  },
  { kind: "sendgrid-key", form: "SG\\.[\\w-]{16,64}\\.[\\w-]{16,64}", source: GITLEAKS },
  { kind: "shopify-token", form: "shp(?:at|ca|pa|ss)_[A-Za-z0-9]{32,64}|shppa_[A-Za-z0-9]{32,64}", source: GITLEAKS },
  { kind: "notion-token", form: "ntn_[0-9]{11}[A-Za-z0-9]{35}", source: SECRETLINT },
  { kind: "linear-key", form: "lin_api_\\w{32,128}", source: SECRETLINT },
  { kind: "figma-token", form: "figd_[\\w-]{40,200}", source: SECRETLINT },
];

/** One expression scans a text once. Testing the first two letters or digits is fast. */
const ANY = new RegExp(
  `(?:(?<![A-Za-z])|${ESCAPE})(?=[A-Za-z0-9]{2})(?:${FORMATS.map(({ form }) => `(${form})`).join("|")})`,
  "g",
);

/** Finds secrets by their form. */
export function knownFormats(text: string): SecretSpan[] {
  return Array.from(text.matchAll(ANY), (match) => {
    const group = match.findIndex((found, index) => index > 0 && found !== undefined);
    const end = match.index + match[0].length;
    return { start: end - (match[group] ?? "").length, end, kind: FORMATS[group - 1]?.kind ?? "secret" };
  });
}
