import { readPatch, shownCall, shownStatus } from "@banyan/client/words";
import { type Call, type ConversationState, type Message, newestLeaf } from "@banyan/core";
import { siblings, toolNameOf } from "@banyan/core/conversation";
import { visibleProse } from "@banyan/core/shown";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { conversationTitle, headingOf, messagePieces, statusWord, type TranscriptPiece, timeOf } from "./transcript.ts";

/**
 * Renders a conversation as an HTML page like the server's (B56). Shows the branch with the newest message. Other
 * branches are folded, and sub-agents' work is inside their calls. The page loads and runs nothing: messages are text
 * or Markdown without HTML, and images are embedded.
 * @example await writeFile("conversation.html", toHtml(session.state));
 */
export function toHtml(state: ConversationState): string {
  const title = escapeHtml(conversationTitle(state));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
<p class="about">Conversation ${escapeHtml(state.id)}, begun ${timeOf(state.createdAt)}</p>
${[...tree(state)].join("\n")}
</body>
</html>
`;
}

/** On paper nothing is folded. */
const STYLE = `
:root { color-scheme: light dark; --ground: light-dark(#fdfcfa, #191b1a); --sunken: light-dark(#f0eee9, #252827); --hair: light-dark(#e5e2db, #303433);
  --ink: light-dark(#1f201d, #e9ebe8); --soft: light-dark(#62635b, #a5aca8); --leaf: light-dark(#1d6b43, #74d09b); --bad: light-dark(#a5292b, #ff9492);
  --added: light-dark(#e3f0e7, #1b3426); --removed: light-dark(#fbeae8, #3b1d1c); }
body { font: 15.5px/1.68 ui-sans-serif, system-ui, sans-serif; background: var(--ground); color: var(--ink); max-width: 46rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
article { padding: .5rem 0; }
article.user > .text { background: var(--sunken); border-radius: .875rem; padding: .5rem .875rem; }
h1 { font-size: 1.75rem; line-height: 1.3; }
article > h2:first-child { font-size: .8125rem; color: var(--soft); margin: .25rem 0; }
a { color: var(--leaf); }
.about, .note, .reasoning, summary { color: var(--soft); font-size: .875rem; }
.text, pre { white-space: pre-wrap; margin: .5rem 0; }
pre, code { font: 13px/1.5 ui-monospace, monospace; }
pre, .markdown :not(pre) > code { background: var(--sunken); border-radius: .25rem; }
pre { padding: .5rem .75rem; }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--hair); padding: .25rem .5rem; }
th:not([align]) { text-align: start; }
blockquote { border-inline-start: 2px solid var(--hair); margin-inline: 0; padding-inline-start: 1rem; color: var(--soft); }
details { margin: .5rem 0; border: 1px solid var(--hair); border-radius: .625rem; padding: .25rem .75rem; }
summary { cursor: pointer; }
.failed, .denied, .not-run { color: var(--bad); }
.added { background: var(--added); } .removed { background: var(--removed); }
.head, .gap, .note { color: var(--soft); }
pre > span { display: block; min-height: 1lh; }
img { max-width: 100%; }
@media print { details::details-content { content-visibility: visible; display: block; height: auto; } body { max-width: none; } }
`;

/** Finished HTML, or the messages between two ids. */
type Work = { readonly html: string } | { readonly from: string | null; readonly to: string | null };

/** Without recursion, since branches can nest to any depth. */
function* tree(state: ConversationState): Generator<string> {
  const open: Work[] = [{ from: null, to: state.leaf }];
  for (let work = open.pop(); work; work = open.pop()) {
    if ("html" in work) {
      yield work.html;
      continue;
    }
    const branch: Work[] = [];
    const fold = (others: readonly string[]) => {
      if (others.length === 0) return;
      const summary = others.length === 1 ? "another branch" : `${others.length} other branches`;
      branch.push({ html: `<details><summary>${summary}</summary>` });
      for (const other of others) branch.push({ from: other, to: newestLeaf(state, other) });
      branch.push({ html: "</details>" });
    };
    const messages = between(state, work.from, work.to);
    for (const message of messages) {
      // The siblings of a folded branch's first message are already folded next to it.
      if (message.id !== work.from) fold(siblings(state, message.id).filter((id) => id !== message.id));
      branch.push(...article(state, message));
    }
    const end = messages.at(-1)?.id ?? work.to;
    fold((state.children.get(end) ?? []).filter((id) => !state.messages.get(id)?.removed));
    for (const next of branch.reverse()) open.push(next);
  }
}

/** The messages from an id, or from a root, down to another. */
function between(state: ConversationState, from: string | null, to: string | null): Message[] {
  const messages: Message[] = [];
  for (let id = to; id !== null; ) {
    const message = state.messages.get(id);
    if (!message) break;
    messages.push(message);
    id = message.id === from ? null : message.parentId;
  }
  return messages.reverse();
}

function article(state: ConversationState, message: Message): Work[] {
  const label = message.label === undefined ? "" : ` <small>[${escapeHtml(message.label)}]</small>`;
  const star = message.starred ? " ★" : "";
  const pieces = messagePieces(message).flatMap((piece): Work[] => {
    if (piece.type === "text" && message.role === "user")
      return [{ html: `<div class="text">${escapeHtml(piece.text.trim())}</div>` }];
    return piece.type === "call" ? callWork(state, piece.call) : [{ html: element(piece) }];
  });
  return [
    { html: `<article class="${message.role}">\n<h2>${escapeHtml(headingOf(message))}${label}${star}</h2>` },
    ...pieces,
    { html: "</article>" },
  ];
}

/** A call with the work of its sub-agent. */
function callWork(state: ConversationState, call: Call): Work[] {
  const { title, command, paths = [], url } = call.about ?? {};
  const what = command ?? title ?? paths[0]?.path ?? url;
  const line = what === undefined ? "" : ` <code>${escapeHtml(what.split("\n", 1)[0] ?? "")}</code>`;
  const said = call.output === undefined ? [] : [{ html: `<pre>${escapeHtml(call.output)}</pre>` }];
  const agent = (state.children.get(call.id) ?? []).filter((id) => !state.messages.get(id)?.removed);
  return [
    {
      html: `<details><summary><b>${escapeHtml(toolNameOf(call))}</b> <span class="${shownStatus(call)}">${statusWord(call)}</span>${line}</summary>`,
    },
    {
      html: `<pre>${shownCall(call)
        .map(({ look, text }) => spanHtml(look, text))
        .join("")}</pre>`,
    },
    ...said,
    ...agent.map((root) => ({ from: root, to: newestLeaf(state, root) })),
    { html: "</details>" },
    ...(call.changes ?? []).map(({ path, added, removed, diff }) => {
      const lines = readPatch(diff).map(({ kind, text }) => spanHtml(kind, text));
      return {
        html: `<details><summary>${escapeHtml(path)} +${added} −${removed}</summary><pre>${lines.join("")}</pre></details>`,
      };
    }),
  ];
}

function spanHtml(look: string, text: string): string {
  return `<span class="${look}">${escapeHtml(text)}</span>`;
}

/** Only `~~` strikes out text (W93). Images in Markdown become links, since the page must load nothing. */
const MARKDOWN = {
  extensions: [gfm({ singleTilde: false }), { disable: { null: ["labelStartImage"] } }],
  htmlExtensions: [gfmHtml()],
};

function element(piece: Exclude<TranscriptPiece, { readonly type: "call" }>): string {
  switch (piece.type) {
    case "text":
      return `<div class="markdown">${micromark(visibleProse(piece.text.replaceAll("\r\n", "\n")), MARKDOWN)}</div>`;
    case "reasoning":
      return `<details><summary>Thinking</summary><div class="text reasoning">${escapeHtml(piece.text.trim())}</div></details>`;
    case "note":
      return `<p class="note">${escapeHtml(piece.text)}</p>`;
    case "source":
      return `<p>Source: ${linkHtml(piece.url, piece.title)}</p>`;
    case "file":
      return fileHtml(piece);
  }
}

/** Only web addresses: `javascript:` and similar would run on a click. */
function linkHtml(url: string, title: string): string {
  return /^https?:\/\//i.test(url)
    ? `<a href="${escapeHtml(url)}" rel="noreferrer">${escapeHtml(title)}</a>`
    : escapeHtml(title);
}

function fileHtml({ mediaType, name, data }: Extract<TranscriptPiece, { type: "file" }>): string {
  const caption = `${escapeHtml(name)} (${escapeHtml(mediaType)})`;
  const picture =
    /^image\/(png|jpeg|gif|webp)$/.test(mediaType) && data !== undefined && /^[A-Za-z0-9+/=]*$/.test(data);
  return picture ? `<p><img src="data:${mediaType};base64,${data}" alt="${caption}"></p>` : `<p>File: ${caption}</p>`;
}

function escapeHtml(text: string): string {
  return visibleProse(text.replaceAll("\r\n", "\n")).replace(
    /[&<>"']/g,
    (character) => `&#${character.charCodeAt(0)};`,
  );
}
