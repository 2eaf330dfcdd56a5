const REACHED = "a[href], button, input, select, textarea, summary, [tabindex]";

/** A row of the transcript: a message, or the line of a fold. */
const ROW = "[data-index]";

const ALWAYS = "[data-actions]";

const CARD = "fieldset[tabindex], form";

/** The number of stops up to which Tab reaches everything in the focused message. */
const MOST = 18;

/**
 * Keeps the Tab path through the messages short, whatever their number and content (W92). Tab reaches the focused
 * message and its content, the adjacent fold lines, and the first waiting card. In a message with too much content, Tab
 * reaches only its actions; Enter moves into the content. Returns a function that ends this behaviour.
 */
export function keepTabStops(log: HTMLElement): () => void {
  let isTab = false;
  const ended = new AbortController();
  const { signal } = ended;
  window.addEventListener(
    "keydown",
    ({ key }) => {
      isTab = key === "Tab";
      // By then, the browser has moved the focus.
      if (isTab) setTimeout(() => (isTab = false));
    },
    { signal, capture: true },
  );
  const enter = (event: FocusEvent) => {
    const { target, relatedTarget } = event;
    const from = relatedTarget instanceof Node ? relatedTarget : null;
    if (!isTab || log.contains(from) || !(target instanceof HTMLElement)) return;
    const stops = messageStops(log);
    if (stops.includes(target)) return;
    // The element's message would otherwise handle the event and become the focused one.
    event.stopPropagation();
    const isBackward = from !== null && isLaterInPage(log, from);
    (isBackward ? stops.at(-1) : stops[0])?.focus();
  };
  log.addEventListener("focusin", enter, { signal, capture: true });
  log.addEventListener("keydown", (event) => {
    const { key, target, shiftKey, altKey, ctrlKey, metaKey, defaultPrevented } = event;
    if (defaultPrevented || altKey || ctrlKey || metaKey || !(target instanceof HTMLElement)) return;
    if (key === "Enter" && target.matches("article")) tabStops(target)[0]?.focus();
    else if (key === "Tab") stopBeside(log, target, { isBackward: shiftKey })?.focus();
    else return;
    event.preventDefault();
  });
  return () => ended.abort();
}

function tabStops(of: ParentNode): readonly HTMLElement[] {
  return [...of.querySelectorAll<HTMLElement>(REACHED)].filter(
    (element) =>
      element.tabIndex >= 0 && !element.matches(":disabled") && element.checkVisibility({ visibilityProperty: true }),
  );
}

function messageStops(log: HTMLElement): readonly HTMLElement[] {
  const row = log.querySelector('article[tabindex="0"]')?.closest(ROW);
  const near = row
    ? [...linesBeside(row, "previousElementSibling"), row, ...linesBeside(row, "nextElementSibling")]
    : [];
  const card = log.querySelector(CARD);
  const isOfAnother = (stop: Element) => {
    const own = stop.closest(CARD);
    return own !== null && own !== card && !own.contains(document.activeElement);
  };
  const stops = tabStops(log).filter(
    (stop) => (near.some((each) => each.contains(stop)) && !isOfAnother(stop)) || card?.contains(stop),
  );
  if (stops.length <= MOST) return stops;
  const isNeeded = (stop: Element) => stop.matches("article") || stop.closest(ALWAYS) || stop.closest(CARD);
  return stops.filter((stop) => isNeeded(stop) || !stop.closest("article"));
}

function linesBeside(row: Element, side: "previousElementSibling" | "nextElementSibling"): readonly Element[] {
  const lines: Element[] = [];
  for (let at = row[side]; at && at.querySelector("article") === null; at = at[side]) lines.push(at);
  return lines;
}

/** The next stop of Tab after an element in the messages; `undefined` if Tab leaves them. */
function stopBeside(
  log: HTMLElement,
  target: HTMLElement,
  { isBackward }: { readonly isBackward: boolean },
): HTMLElement | undefined {
  const stops = messageStops(log);
  // In a message that was entered, or a card that was clicked, Tab reaches everything.
  const group = target.closest(`${CARD}, article`);
  const within = stops.includes(target) || !group ? stops : tabStops(group);
  const beside = (all: readonly HTMLElement[]) =>
    isBackward ? all.findLast((stop) => isLaterInPage(stop, target)) : all.find((stop) => isLaterInPage(target, stop));
  return beside(within) ?? beside(stops) ?? beside(tabStops(document).filter((stop) => !log.contains(stop)));
}

function isLaterInPage(first: Node, second: Node): boolean {
  return (first.compareDocumentPosition(second) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}
