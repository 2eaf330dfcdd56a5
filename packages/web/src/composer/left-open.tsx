import { useConversation } from "../conversation/use-conversation.ts";
import { useShow } from "../conversation/use-view.ts";
import { Action } from "./action.tsx";

/** Says that a process stopped in the middle of the branch in view, or of another one, and leads on from there. */
export function LeftOpen({ leaf, goOn }: { readonly leaf: string | null; readonly goOn: (at: string) => void }) {
  const { leftOpen } = useConversation();
  const show = useShow();
  const [end] = leftOpen;
  if (end === undefined) return null;
  const isHere = leaf !== null && leftOpen.includes(leaf);
  return (
    <p className="flex flex-wrap items-center gap-2 text-sm text-warn">
      The process stopped in the middle of {isHere ? "this" : "another"} branch.
      {isHere ? <Action onClick={() => goOn(leaf)}>Go on</Action> : <Action onClick={() => show(end)}>Show it</Action>}
    </p>
  );
}
