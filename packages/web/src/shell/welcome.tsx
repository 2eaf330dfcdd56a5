import { FirstMessage } from "../composer/first-message.tsx";
import { Inbox } from "../conversations/inbox.tsx";
import { usePageState } from "../page.ts";
import { useMay } from "../use-may.ts";
import { ModelSource } from "./model-source.tsx";

/** What stands where a conversation would, while none is chosen: a place to begin one (W63). */
export function Welcome() {
  const connection = usePageState(({ connection }) => connection);
  const may = useMay();
  const welcome = connection.phase === "open" ? connection.welcome : undefined;
  const mayBegin = may("turn.say") && may("conversation.create");
  return (
    <div className="flex min-h-0 flex-1 flex-col items-center overflow-y-auto px-4 py-6 max-md:pt-14">
      <div className="my-auto flex w-full max-w-text flex-col items-center gap-5">
        <h1 className="flex items-center gap-3 text-center font-semibold text-2xl">
          <img src="/icon.svg" alt="" className="size-10" />
          {mayBegin ? "What shall we work on?" : "Banyan"}
        </h1>
        {/* It has its line before the server has told. */}
        <p className="min-h-6 text-center text-soft">
          {welcome && (
            <>
              {welcome.agent} works in <code className="font-mono text-sm">{welcome.workspace}</code>
            </>
          )}
        </p>
        {mayBegin ? (
          <FirstMessage />
        ) : (
          <p className="text-soft text-sm">You are watching: you see what happens in the conversations here.</p>
        )}
        <Inbox />
        {mayBegin && welcome && <ModelSource model={welcome.settings.model} />}
      </div>
    </div>
  );
}
