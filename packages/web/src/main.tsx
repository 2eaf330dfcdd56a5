import { options } from "preact";
import { createRoot } from "react-dom/client";
import { Page, PageProvider } from "./page.ts";
import { leaveToInputMethods } from "./palette/keys.ts";
import { applyLanguage } from "./phrases/phrases.ts";
import { keepClicks } from "./shell/keep-clicks.ts";
import { applyTheme } from "./shell/preferences.ts";
import { Shell } from "./shell/shell.tsx";
import { type Key, keptKey } from "./sign-in/key.ts";
import { signOut } from "./sign-in/signing.ts";
import "./styles.css";

/** Milliseconds after which what is looked at is there, as a rule. */
const WHEN_DRAWN = 2_000;

// What follows from something drawn is done at once, not a frame later: a page that is closed then has kept what was written.
options.requestAnimationFrame = queueMicrotask;

applyTheme();
applyLanguage(document.documentElement);
keepClicks(document);
leaveToInputMethods(window);

const key = await keptKey();
if (key === undefined) await signInAnew();
else {
  show(key);
  setTimeout(installed, WHEN_DRAWN);
}

/** What makes of the page a program of its own comes last. */
function installed(): void {
  import("./shell/offline.ts")
    .then(({ beThereOffline }) => beThereOffline())
    .catch(() => {
      // Without it the browser says in its own words that nobody answers.
    });
}

function show(key: Key): void {
  const { protocol, host } = window.location;
  const page = new Page(`${protocol === "https:" ? "wss" : "ws"}://${host}/api/v1/socket`, key, () => {
    signInAnew().catch(() => window.location.reload());
  });
  const root = document.getElementById("page");
  if (!root) throw new Error("index.html has no place for the page.");
  createRoot(root).render(
    <PageProvider value={page}>
      <Shell />
    </PageProvider>,
  );
}

/** Without its cookie, the server shows the page to sign in at this very address. */
async function signInAnew(): Promise<void> {
  await signOut();
  window.location.reload();
}
