import { createHmac } from "node:crypto";
import { proofText } from "@banyan/protocol";
import { ask } from "./request.fixture.ts";

/** A browser's cookie and key. */
export interface SignIn {
  /** Name and value, as a browser sends them. */
  readonly cookie: string;
  readonly key: string;
}

/** Signs in like the page, with a token in its address. */
export async function signIn(address: string, token: string): Promise<SignIn> {
  const { headers } = await ask(address, `/?token=${token}`);
  const once = /^\/sign-in#([\w-]{43})$/.exec(headers.location ?? "")?.[1] ?? "";
  return signInWith(address, once);
}

/** Signs in like the page that asks for a token. */
export async function signInWith(address: string, token: string): Promise<SignIn> {
  const answer = await ask(address, "/api/v1/sign-in", {
    method: "POST",
    headers: { origin: address },
    body: JSON.stringify({ token }),
  });
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.body}`);
  return { cookie: answer.headers["set-cookie"]?.[0]?.split(";")[0] ?? "", key: JSON.parse(answer.body).key };
}

/** The proof that a page sends for a challenge of a host. */
export function proofOf(key: string, challenge: string, host: string): string {
  return createHmac("sha256", Buffer.from(key, "base64url")).update(proofText(challenge, host)).digest("base64url");
}
