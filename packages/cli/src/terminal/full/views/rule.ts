import { cut, widthOf } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";

/** A line across the terminal with a title in it, and something at its end if there is room. */
export function rule(title: string, width: number, theme: Theme, end = ""): string {
  const name = cut(title, Math.max(0, width - 4));
  const begin = `${theme.dim("─")} ${name} `;
  const room = width - widthOf(begin);
  const tail = end !== "" && widthOf(end) + 6 <= room ? ` ${end} ${theme.dim("─")}` : "";
  return begin + theme.dim("─".repeat(Math.max(0, room - widthOf(tail)))) + tail;
}
