import { errorMessage } from "@banyan/core/shown";
import { keptKey } from "../../parts/connection/key.ts";
import { isSignedIn, signIn } from "../../parts/connection/sign-in.ts";
import { applyTheme } from "../../parts/page/preferences.ts";
import { applyLanguage, t } from "../../parts/phrases/phrases.ts";
import "../styles.css";

// The sign-in page, at /sign-in and at every address of the page in a browser that is not signed in.

applyTheme();
applyLanguage(document.documentElement);
sayAll();

const form = requireElement(document.querySelector("form"));
const problem = requireElement(document.getElementById("problem"));
const { hash, pathname } = window.location;
const once = pathname === "/sign-in" ? hash.slice(1) : "";
// Remove the token from the address and the history before anything else.
if (once !== "") window.history.replaceState(null, "", pathname);

form.addEventListener("submit", (event) => {
  event.preventDefault();
  enter(tokenInText(String(new FormData(form).get("token") ?? ""))).catch(showProblem);
});
if (once !== "") enter(once).catch(showProblem);
// A link from another site arrives without the cookie, because that site must not cause requests with it.
else if ((await keptKey()) !== undefined && (await isSignedIn())) goOn();

async function enter(token: string): Promise<void> {
  const came = await signIn(token);
  if (!("problem" in came)) return goOn(came.path);
  requireElement(document.getElementById("why")).textContent = "";
  problem.textContent = came.problem;
  form.querySelector("input")?.select();
}

function showProblem(error: unknown): void {
  problem.textContent = t("Could not sign in: {problem}", {
    problem: errorMessage(error),
  });
}

function sayAll(): void {
  document.title = `${t("Sign in")} · Banyan`;
  const words = { heading: t("Sign in to Banyan"), label: t("Token"), enter: t("Sign in") };
  for (const [id, said] of Object.entries(words)) requireElement(document.getElementById(id)).textContent = said;
  const where = requireElement(document.getElementById("where"));
  const [address, command] = where.querySelectorAll("code");
  const parts = new Map([
    ["address", address],
    ["command", command],
  ]);
  const phrase = t("Paste the address that {command} printed. The part after {address} is enough.");
  where.replaceChildren(...phrase.split(/[{}]/).map((piece) => parts.get(piece) ?? piece));
}

/** Opens the requested page, or what the link shows. */
function goOn(shown?: string): void {
  const { search } = window.location;
  if (shown !== undefined) window.location.replace(shown);
  else if (pathname === "/sign-in" || /[?&]token=/.test(search)) window.location.replace("/");
  // Navigating to the current address with a # does not load it.
  else if (hash !== "") window.location.reload();
  else window.location.replace(`${pathname}${search}`);
}

function tokenInText(text: string): string {
  return /[?&]token=([^&#\s]+)/.exec(text)?.[1] ?? text.trim();
}

function requireElement<T>(element: T | null): T {
  if (element === null) throw new Error("sign-in.html has no place for this.");
  return element;
}
