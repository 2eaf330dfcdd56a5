import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";

/** A place outside the page and its server that records TCP and UDP visits. */
export interface Outside extends AsyncDisposable {
  /** A port of 127.0.0.1, the same for TCP and UDP. */
  readonly port: number;
  readonly visits: readonly string[];
}

/** Opens a place that nothing should reach. */
export async function outside(): Promise<Outside> {
  const visits: string[] = [];
  const tcp = createServer((socket) => {
    visits.push("tcp");
    socket.on("error", () => {
      // The visitor disconnected.
    });
    socket.end();
  }).listen(0, "127.0.0.1");
  await once(tcp, "listening");
  const { port } = tcp.address() as { port: number };
  const udp = createSocket("udp4", () => visits.push("udp")).bind(port, "127.0.0.1");
  await once(udp, "listening");
  return {
    port,
    visits,
    async [Symbol.asyncDispose]() {
      udp.close();
      tcp.close();
      await once(tcp, "close");
    },
  };
}

/**
 * A page that tries every way out of its frame: to the surrounding page, to browser storage, to the server, and to an outside
 * place. `window.gotOut` lists the ways that worked, `window.isTried` is true at the end, and `leave` tries to navigate away.
 */
export function escapist(port: number): string {
  const away = `http://127.0.0.1:${port}`;
  return `<!doctype html><title>Escapist</title>
<link rel="preconnect" href="${away}"><link rel="dns-prefetch" href="${away}"><link rel="prefetch" href="${away}/prefetch">
<link rel="stylesheet" href="${away}/style.css"><img src="${away}/picture.png" alt="">
<style>@import "${away}/import.css"; body { background: url("${away}/background.png") }</style>
<script type="speculationrules">{"prefetch":[{"source":"list","urls":["${away}/speculation"]}]}</script>
<iframe src="/"></iframe><object data="${away}/object"></object><embed src="${away}/embed">
<form action="${away}/form"><input name="a"></form>
<a id="link" href="${away}/link" ping="${away}/ping" target="_top">away</a>
<script>
  const ways = {
    page: () => parent.document.title,
    address: () => top.location.href,
    name: () => (top.name = "taken"),
    storage: () => localStorage.length,
    session: () => sessionStorage.length,
    cookie: () => document.cookie,
    database: () => indexedDB.open("x"),
    caches: () => caches.keys(),
    worker: () => new Promise((resolve, reject) => {
      const worker = new Worker(URL.createObjectURL(new Blob(["postMessage(1)"])));
      worker.onmessage = resolve;
      worker.onerror = reject;
    }),
    workers: () => navigator.serviceWorker.register("/sw.js"),
    server: () => fetch("/api/v1/page"),
    import: () => import("/assets/first.js"),
    fetch: () => fetch("${away}/fetch", { mode: "no-cors" }),
    later: () => { fetchLater("${away}/later"); throw 0; },
    beacon: () => { navigator.sendBeacon("${away}/beacon", "x"); throw 0; },
    socket: () => new Promise((resolve, reject) => {
      const socket = new WebSocket("ws://127.0.0.1:${port}/");
      socket.onopen = resolve;
      socket.onerror = reject;
    }),
    transport: () => new WebTransport("https://127.0.0.1:${port}/").ready,
    window: () => { if (!window.open("${away}/window")) throw 0; },
    top: () => { top.location = "${away}/top"; },
    camera: () => navigator.mediaDevices.getUserMedia({ audio: true }),
    clipboard: () => navigator.clipboard.readText(),
  };
  (async () => {
    window.gotOut = [];
    for (const [name, way] of Object.entries(ways)) {
      // A way that waits for the user's permission has not worked.
      const late = new Promise((_, reject) => setTimeout(reject, 400));
      try { await Promise.race([way(), late]); gotOut.push(name); } catch {}
    }
    try { await (${callsTo(port)})(); } catch {}
    try { document.forms[0].submit(); link.click(); } catch {}
    for (const data of ["closed", "open", { id: 1, svg: "<svg/>" }, { html: "" }]) parent.postMessage(data, "*");
    window.isTried = true;
    window.leave = () => { location.href = "${away}/gone"; };
  })();
</script>`;
}

/** A function that opens a WebRTC connection to a place. */
function callsTo(port: number): string {
  return `async () => {
    const peers = new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.1:${port}" },
      { urls: "turn:127.0.0.1:${port}?transport=tcp", username: "a", credential: "b" }] });
    peers.createDataChannel("x");
    await peers.setLocalDescription(await peers.createOffer());
    await new Promise((done) => setTimeout(done, 300));
  }`;
}
