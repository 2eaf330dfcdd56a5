import { type ConversationState, type Message, newestLeaf } from "@banyan/core";
import { siblings } from "@banyan/core/conversation";
import { visibleProse } from "@banyan/core/shown";
import { argumentsOf, headingOf, type Piece, piecesOf, timeOf, titleOf } from "./transcript.ts";

/**
 * A conversation as one HTML page (B56): the branch that was written to last, the other ones folded where they begin. It
 * loads nothing and runs nothing; what was said is escaped, and pictures are in the page.
 */
export function toHtml(state: ConversationState): string {
  const title = escaped(titleOf(state));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
<p class="about">Conversation ${escaped(state.id)}, begun ${timeOf(state.createdAt)}</p>
${[...tree(state)].join("\n")}
</body>
</html>
`;
}

const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
article { border-top: 1px solid #8884; padding: .5rem 0; }
h2 { font-size: 1rem; margin: .25rem 0; }
.about, .note, .reasoning { color: GrayText; }
pre, .text { white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0; }
pre { background: #8882; padding: .5rem; font: 14px/1.4 ui-monospace, monospace; }
details { margin: .5rem 0; padding-left: 1rem; border-left: 2px solid #8886; }
img { max-width: 100%; }
`;

/** The messages in order. Without recursion: branches can begin in branches as often as they like. */
function* tree(state: ConversationState): Generator<string> {
  type Work = { readonly html: string } | { readonly from: string | null; readonly to: string | null };
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
      // The branches beside the first message of a folded one are folded beside it already.
      if (message.id !== work.from) fold(siblings(state, message.id).filter((id) => id !== message.id));
      branch.push({ html: article(message) });
    }
    // Where the conversation stands may be a message that others were said below.
    const end = messages.at(-1)?.id ?? work.to;
    fold((state.children.get(end) ?? []).filter((id) => !state.messages.get(id)?.removed));
    for (const next of branch.reverse()) open.push(next);
  }
}

/** The messages from one, or from a root, down to another. */
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

function article(message: Message): string {
  const label = message.label === undefined ? "" : ` <small>[${escaped(message.label)}]</small>`;
  const star = message.starred ? " ★" : "";
  const head = `<h2>${escaped(headingOf(message))}${label}${star}</h2>`;
  return `<article class="${message.role}">\n${head}\n${piecesOf(message).map(element).join("\n")}\n</article>`;
}

function element(piece: Piece): string {
  switch (piece.type) {
    case "text":
      return `<div class="text">${escaped(piece.text.trim())}</div>`;
    case "reasoning":
      return `<details><summary>Thinking</summary><div class="text reasoning">${escaped(piece.text.trim())}</div></details>`;
    case "note":
      return `<p class="note">${escaped(piece.text)}</p>`;
    case "source":
      return `<p>Source: ${link(piece.url, piece.title)}</p>`;
    case "file":
      return file(piece);
    case "call": {
      const { call } = piece;
      const said = call.output === undefined ? "" : `\n<pre>${escaped(call.output)}</pre>`;
      return `<details><summary><b>${escaped(call.tool)}</b> ${call.status}</summary>\n<pre>${escaped(argumentsOf(call))}</pre>${said}\n</details>`;
    }
  }
}

/** Only addresses of the web: `javascript:` and its like would run when clicked. */
function link(url: string, title: string): string {
  return /^https?:\/\//i.test(url)
    ? `<a href="${escaped(url)}" rel="noreferrer">${escaped(title)}</a>`
    : escaped(title);
}

function file({ mediaType, name, data }: Extract<Piece, { type: "file" }>): string {
  const caption = `${escaped(name)} (${escaped(mediaType)})`;
  const picture =
    /^image\/(png|jpeg|gif|webp)$/.test(mediaType) && data !== undefined && /^[A-Za-z0-9+/=]*$/.test(data);
  return picture ? `<p><img src="data:${mediaType};base64,${data}" alt="${caption}"></p>` : `<p>File: ${caption}</p>`;
}

function escaped(text: string): string {
  return visibleProse(text.replaceAll("\r\n", "\n")).replace(
    /[&<>"']/g,
    (character) => `&#${character.charCodeAt(0)};`,
  );
}
