import { ProcessTitle } from "../parts/conversation/process-title.tsx";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { Button } from "../parts/design/button.tsx";
import { usePage } from "../parts/page/page.ts";
import { useMay } from "../parts/page/use-may.ts";
import { t } from "../parts/phrases/phrases.ts";

export function ProcessList() {
  const page = usePage();
  const may = useMay();
  const { id: conversation } = useConversation();
  const tree = useTree();
  const running = [...(tree?.processes.values() ?? [])].filter(({ outcome }) => outcome === undefined);
  if (running.length === 0) return null;
  const stop = (process: string) => page.told(page.connection.ask("process.stop", { conversation, process }));
  return (
    <ul
      id="processes"
      aria-label={t("In the background")}
      className="flex max-h-40 flex-col gap-1 overflow-y-auto text-sm"
    >
      {running.map(({ id, title }) => (
        <li key={id} className="flex items-center gap-2 rounded border border-hair px-2 py-1">
          <span className="shrink-0 text-soft text-xs">{t("{id} is running", { id })}</span>
          <code className="min-w-24 flex-1 truncate text-xs" title={title}>
            <ProcessTitle title={title} />
          </code>
          {may("process.stop") && (
            <Button isSmall aria-label={t("Stop {id}", { id })} onClick={() => stop(id)}>
              {t("Stop")}
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}
