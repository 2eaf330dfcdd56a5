import { options } from "preact";
import { createRoot } from "react-dom/client";
import { keepClicks } from "../parts/browser/keep-clicks.ts";
import { leaveToInputMethods } from "../parts/browser/keys.ts";
import { type Key, keptKey } from "../parts/connection/key.ts";
import { signOutBrowser } from "../parts/connection/sign-in.ts";
import { Page, PageProvider } from "../parts/page/page.ts";
import { applyTheme } from "../parts/page/preferences.ts";
import { applyLanguage } from "../parts/phrases/phrases.ts";
import { Shell } from "./shell/shell.tsx";
import "./styles.css";

const WHEN_DRAWN = 2_000;

// Run effects directly after a rendering, not a frame later: a page that closes then has already saved the draft.
options.requestAnimationFrame = queueMicrotask;

applyTheme();
applyLanguage(document.documentElement);
keepClicks(document);
leaveToInputMethods(window);

const key = await keptKey();
if (key === undefined) await signInAnew();
else {
  renderPage(key);
  setTimeout(installed, WHEN_DRAWN);
}

function installed(): void {
  import("../parts/browser/offline.ts")
    .then(({ installOfflinePage }) => installOfflinePage())
    .catch(() => {
      // Without the service worker, an offline browser shows its own error page.
    });
}

function renderPage(key: Key): void {
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

/** Without its cookie, the server answers this address with the sign-in page. */
async function signInAnew(): Promise<void> {
  await signOutBrowser();
  window.location.reload();
}
