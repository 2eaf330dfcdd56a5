import { Inbox } from "../conversations/inbox.tsx";
import { NewConversation } from "../conversations/new-conversation.tsx";
import { usePageState } from "../page.ts";
import { useMay } from "../use-may.ts";

/** What stands where a conversation would, while none is chosen. */
export function Welcome() {
  const connection = usePageState(({ connection }) => connection);
  const may = useMay();
  const welcome = connection.phase === "open" ? connection.welcome : undefined;
  return (
    <div className="m-auto flex max-w-md flex-col items-center gap-4 p-6 text-center">
      <img src="/icon.svg" alt="" className="size-14" />
      <h1 className="font-semibold text-2xl">Banyan</h1>
      {welcome && (
        <p className="text-soft">
          {welcome.agent} works in <code className="font-mono text-sm">{welcome.workspace}</code> with{" "}
          {welcome.settings.model}.
        </p>
      )}
      {!may("turn.say") && (
        <p className="text-soft text-sm">You are watching: you see what happens in the conversations here.</p>
      )}
      <NewConversation />
      <Inbox />
    </div>
  );
}
