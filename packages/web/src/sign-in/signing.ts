import type { Right } from "@banyan/protocol";
import { t } from "../phrases/phrases.ts";
import { forgetKey, keepKey } from "./key.ts";
import { keepRights } from "./rights.ts";

/** What came of a sign-in: where it leads, if it is somewhere; or why there is none, in a sentence. */
export type SignedIn = { readonly path?: string | undefined } | { readonly problem: string };

/** Signs this browser in with a token. With a link, one that is signed in already, and sees more, stays as it is. */
export async function signIn(token: string): Promise<SignedIn> {
  const answer = await asked("/api/v1/sign-in", { token });
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

/** Makes this browser forget that it was signed in, as when the server does not know it any more. */
export async function signOut(): Promise<void> {
  await Promise.allSettled([fetch("/api/v1/sign-out", { method: "POST" }), forgetKey()]);
}

/** Whether the server still takes this browser for signed in; so it is taken to be while nobody answers. */
export async function isSignedIn(): Promise<boolean> {
  try {
    const { signedIn } = (await (await fetch("/api/v1/page")).json()) as { readonly signedIn?: boolean };
    return signedIn !== false;
  } catch {
    // The server is away: that is for the connection to say.
    return true;
  }
}

type SignInAnswer =
  | { readonly key: string; readonly rights: readonly Right[]; readonly path?: string }
  | { readonly path: string }
  | { readonly error: { readonly message: string } };

async function asked(address: string, said: object): Promise<SignInAnswer | undefined> {
  try {
    const headers = { "content-type": "application/json" };
    return (await (
      await fetch(address, { method: "POST", headers, body: JSON.stringify(said) })
    ).json()) as SignInAnswer;
  } catch {
    // Nobody answers, or what answers is no server of ours.
    return undefined;
  }
}
