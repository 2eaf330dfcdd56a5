import { siblings } from "@banyan/core/conversation";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { useShow } from "../parts/conversation/use-view.ts";
import { SmallButton } from "../parts/design/button.tsx";
import { t } from "../parts/phrases/phrases.ts";

/** Shows the versions of a message as `‹ 2/3 ›`, if there are several (W2). Spins while another version runs (W11). */
export function Versions({ message }: { readonly message: string }) {
  const conversation = useConversation();
  const tree = useTree();
  const show = useShow();
  const versions = tree ? siblings(tree, message) : [];
  if (versions.length < 2) return null;
  const place = versions.indexOf(message);
  const of = { place: place + 1, all: versions.length };
  const go = (to: string | undefined) => {
    if (to !== undefined) show(conversation.leafBelow(to), { focus: to });
  };
  const runs = versions.some((id) => id !== message && conversation.running.has(id));
  return (
    <span className="flex items-center">
      <SmallButton
        name={t("Previous version of this message, {place} of {all}", of)}
        disabled={place === 0}
        onClick={() => go(versions[place - 1])}
      >
        ‹
      </SmallButton>
      <span>
        {place + 1}/{versions.length}
      </span>
      <SmallButton
        name={t("Next version of this message, {place} of {all}", of)}
        disabled={place === versions.length - 1}
        onClick={() => go(versions[place + 1])}
      >
        ›
      </SmallButton>
      {runs && <Spinner name={t("Another version is running")} />}
    </span>
  );
}

export function Spinner({ name }: { readonly name: string }) {
  return (
    <span
      role="img"
      aria-label={name}
      title={name}
      className="inline-block size-3 animate-spin rounded-full border-2 border-leaf border-t-transparent motion-reduce:border-dotted"
    />
  );
}
