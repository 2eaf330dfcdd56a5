import type { Right } from "@banyan/protocol";
import { t } from "../phrases/phrases.ts";
import { forgetKey, keepKey } from "./key.ts";
import { keepRights } from "./rights.ts";

/** The result of a sign-in: a path to open, if any, or an error sentence. */
export type SignedIn = { readonly path?: string | undefined } | { readonly problem: string };

/** Signs this browser in with a token. The token of a share link does not replace a sign-in with more rights. */
export async function signIn(token: string): Promise<SignedIn> {
  const answer = await postSignIn("/api/v1/sign-in", { token });
  if (answer === undefined) return { problem: t("The server cannot be reached. Is it running?") };
  if ("error" in answer) return { problem: answer.error.message };
  const { path } = answer;
  if (!("key" in answer)) return { path };
  try {
    await keepKey(answer.key);
    keepRights(answer.rights);
    return { path };
  } catch {
    return {
      problem: t(
        "This browser stores no data for this page, so you can't stay signed in. Allow site data in its settings.",
      ),
    };
  }
}

/** Removes this browser's sign-in, for example when the server no longer knows it. */
export async function signOutBrowser(): Promise<void> {
  await Promise.allSettled([fetch("/api/v1/sign-out", { method: "POST" }), forgetKey()]);
}

/** Returns whether the server still knows this sign-in; true while the server does not answer. */
export async function isSignedIn(): Promise<boolean> {
  try {
    const { signedIn } = (await (await fetch("/api/v1/page")).json()) as { readonly signedIn?: boolean };
    return signedIn !== false;
  } catch {
    // The connection reports an unreachable server.
    return true;
  }
}

type SignInAnswer =
  | { readonly key: string; readonly rights: readonly Right[]; readonly path?: string }
  | { readonly path: string }
  | { readonly error: { readonly message: string } };

async function postSignIn(address: string, said: object): Promise<SignInAnswer | undefined> {
  try {
    const headers = { "content-type": "application/json" };
    return (await (
      await fetch(address, { method: "POST", headers, body: JSON.stringify(said) })
    ).json()) as SignInAnswer;
  } catch {
    // No answer, or an answer of another server.
    return undefined;
  }
}
