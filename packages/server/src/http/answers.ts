import type { ErrorCode, Problem } from "@banyan/protocol";
import type { ContentfulStatusCode } from "hono/utils/http-status";

const STATUS: Readonly<Record<ErrorCode, ContentfulStatusCode>> = {
  ambiguous: 409,
  busy: 429,
  damaged: 500,
  failed: 500,
  forbidden: 403,
  invalid: 409,
  locked: 409,
  malformed: 400,
  "not-found": 404,
  unconfirmed: 409,
  stopping: 503,
  "unknown-command": 400,
};

/** The HTTP status of a problem. */
export function statusOf({ code }: Problem): ContentfulStatusCode {
  return code in STATUS ? STATUS[code as ErrorCode] : 500;
}

/** The HTML for a browser that may not see the page. Contains no text of the request. */
export function noticePage(message: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Banyan</title></head>
<body><h1>Banyan</h1><p>${message}</p></body>
</html>
`;
}

/** `Content-Disposition` of a download (RFC 6266): the file name, and an ASCII name for clients that know no other. */
export function attachment(name: string): string {
  const plain = name.replaceAll(/[^\w.-]/g, "_");
  if (plain === name) return `attachment; filename="${name}"`;
  const whole = encodeURIComponent(name).replaceAll(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}
