import { errorMessage, visibleLine } from "@banyan/core/shown";
import { useRef } from "react";
import { goToView } from "../../parts/browser/navigation.tsx";
import { Button } from "../../parts/design/button.tsx";
import { usePage } from "../../parts/page/page.ts";
import { useMay } from "../../parts/page/use-may.ts";
import { t } from "../../parts/phrases/phrases.ts";

export function ImportConversation() {
  const page = usePage();
  const chooser = useRef<HTMLInputElement>(null);
  if (!useMay()("conversation.import")) return null;
  const read = async (file: File) => {
    const text = await file.text();
    const { conversation, notice } = await page.connection
      .ask("conversation.import", { text })
      .catch((error: unknown) => {
        const problem = errorMessage(error);
        throw new Error(t("Could not import {name}. {problem}", { name: visibleLine(file.name), problem }));
      });
    goToView({ conversation });
    return notice;
  };
  return (
    <>
      <Button isSmall look="quiet" onClick={() => chooser.current?.click()}>
        {t("Import")}
      </Button>
      <input
        ref={chooser}
        type="file"
        accept="application/json,.json"
        aria-label={t("File to import")}
        hidden
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          target.value = "";
          if (file) page.perform(() => read(file));
        }}
      />
    </>
  );
}
