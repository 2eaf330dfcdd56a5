import fc from "fast-check";

// Generated answers in the form that the API documents. What they mean is not known here: tests compare two readers.

type Event = Readonly<Record<string, unknown>> & { readonly type: string };
type EventsOf = (index: number) => readonly Event[];

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const word = fc.stringMatching(/^[a-z]{1,8}$/);
const url = word.map((name) => `https://${name}.example/`);
const list = <Value>(of: fc.Arbitrary<Value>, maxLength = 3) => fc.array(of, { maxLength });

/** Splits a text into deltas, of which some may be empty. */
function deltas(whole: string, size: number): string[] {
  const units = [...whole];
  const count = Math.ceil(units.length / size);
  return Array.from({ length: count }, (_, at) => units.slice(at * size, (at + 1) * size).join(""));
}

const added = (output_index: number, item: object): Event => ({
  type: "response.output_item.added",
  output_index,
  item,
});
const done = (output_index: number, item: object): Event => ({ type: "response.output_item.done", output_index, item });

const annotation = fc.oneof(
  fc.record({ url, title: text }).map((cited) => {
    return { type: "url_citation", start_index: 0, end_index: 1, ...cited };
  }),
  word.map((name) => ({ type: "file_citation", file_id: `file-${name}`, filename: `${name}.txt`, index: 1 })),
);

const messageOf = (refusal: fc.Arbitrary<boolean>) =>
  fc
    .record({
      said: fc.array(text, { minLength: 1, maxLength: 2 }),
      size: fc.integer({ min: 1, max: 5 }),
      refuses: refusal,
      phase: fc.constantFrom(undefined, "commentary", "final_answer"),
      annotations: list(annotation, 2),
    })
    .map(
      ({ said, size, refuses, phase, annotations }): EventsOf =>
        (index) => {
          const id = `msg_${index}`;
          const at = { item_id: id, output_index: index, content_index: 0 };
          const item = { type: "message", id, role: "assistant", ...(phase ? { phase } : {}) };
          const kind = refuses ? "response.refusal.delta" : "response.output_text.delta";
          return [
            added(index, { ...item, status: "in_progress", content: [] }),
            ...said.flatMap((part) => deltas(part, size).map((delta) => ({ type: kind, ...at, delta }))),
            ...annotations.map((one, annotation_index) => {
              return { type: "response.output_text.annotation.added", ...at, annotation_index, annotation: one };
            }),
            done(index, { ...item, status: "completed", content: contentOf(said.join(""), refuses) }),
          ];
        },
    );

const contentOf = (text: string, refuses: boolean) =>
  text === "" ? [] : [refuses ? { type: "refusal", refusal: text } : { type: "output_text", text }];

const reasoning = fc
  .record({
    paragraphs: list(text),
    size: fc.integer({ min: 1, max: 5 }),
    encrypted: fc.option(word, { nil: null }),
    isEarly: fc.boolean(),
  })
  .map(
    ({ paragraphs, size, encrypted, isEarly }): EventsOf =>
      (index) => {
        const id = `rs_${index}`;
        const item = { type: "reasoning", id, summary: [], status: "completed" };
        return [
          added(index, { ...item, ...(isEarly ? { encrypted_content: `early_${index}` } : {}) }),
          ...paragraphs.flatMap((paragraph, summary_index) => {
            const at = { item_id: id, output_index: index, summary_index };
            return [
              { type: "response.reasoning_summary_part.added", ...at, part: { type: "summary_text", text: "" } },
              ...deltas(paragraph, size).map((delta) => ({
                type: "response.reasoning_summary_text.delta",
                ...at,
                delta,
              })),
              { type: "response.reasoning_summary_part.done", ...at, part: { type: "summary_text", text: paragraph } },
            ];
          }),
          done(index, { ...item, encrypted_content: encrypted }),
        ];
      },
  );

const functionCall = fc
  .record({
    input: fc.dictionary(word, fc.oneof(text, fc.integer()), { maxKeys: 2 }).map((input) => JSON.stringify(input)),
    size: fc.integer({ min: 1, max: 6 }),
    streams: fc.boolean(),
    namespace: fc.option(word, { nil: undefined }),
  })
  .map(
    ({ input, size, streams, namespace }): EventsOf =>
      (index) => {
        const id = `fc_${index}`;
        const item = { type: "function_call", id, call_id: `call_${index}`, name: "look", arguments: "" };
        const own = namespace === undefined ? {} : { namespace };
        return [
          added(index, { ...item, ...own, status: "in_progress" }),
          ...(streams ? deltas(input, size) : []).map((delta) => {
            return { type: "response.function_call_arguments.delta", item_id: id, output_index: index, delta };
          }),
          done(index, { ...item, ...own, arguments: input, status: "completed" }),
        ];
      },
  );

const action = fc.oneof(
  fc
    .record({
      query: text,
      sources: fc.option(
        list(
          url.map((url) => ({ type: "url", url })),
          2,
        ),
        { nil: undefined },
      ),
    })
    .map(({ query, sources }) => ({ type: "search", query, ...(sources?.length ? { sources } : {}) })),
  url.map((url) => ({ type: "open_page", url })),
  fc.record({ url, pattern: word }).map((found) => ({ type: "find_in_page", ...found })),
);

const webSearch = fc.record({ action, status: fc.constantFrom("completed", "completed", "failed") }).map(
  (item): EventsOf =>
    (index) => {
      const search = { type: "web_search_call", id: `ws_${index}` };
      return [
        added(index, { ...search, status: "in_progress", action: item.action }),
        done(index, { ...search, ...item }),
      ];
    },
);

const found = fc.record({ file_id: word, filename: word, score: fc.constant(0.5), text }).map((one) => {
  return { attributes: { kind: "a" }, ...one };
});
const fileSearch = fc.record({ queries: list(word), results: fc.option(list(found, 2), { nil: null }) }).map(
  (item): EventsOf =>
    (index) => {
      const search = { type: "file_search_call", id: `fs_${index}` };
      return [added(index, search), done(index, { ...search, ...item })];
    },
);

const codeRun = fc.record({ code: text, outputs: list(text.map((logs) => ({ type: "logs", logs }))) }).map(
  ({ code, outputs }): EventsOf =>
    (index) => {
      const item = { type: "code_interpreter_call", id: `ci_${index}`, container_id: "cntr_1", status: "in_progress" };
      const at = { item_id: item.id, output_index: index };
      return [
        added(index, { ...item, code: null, outputs: null }),
        ...deltas(code, 4).map((delta) => ({ type: "response.code_interpreter_call_code.delta", ...at, delta })),
        { type: "response.code_interpreter_call_code.done", ...at, code },
        done(index, { ...item, code, outputs, status: "completed" }),
      ];
    },
);

const image = word.map(
  (result): EventsOf =>
    (index) => {
      const item = { type: "image_generation_call", id: `ig_${index}` };
      return [added(index, item), done(index, { ...item, result })];
    },
);

const mcp = fc.record({ output: fc.option(text, { nil: null }), error: fc.option(word, { nil: null }) }).map(
  (end): EventsOf =>
    (index) => {
      const item = { type: "mcp_call", id: `mcp_${index}`, name: "find", server_label: "docs", arguments: '{"a":1}' };
      const begun = { ...item, status: "in_progress", arguments: "" };
      const listed = { type: "mcp_list_tools", id: `mcpl_${index}`, server_label: "docs", tools: [] };
      return [added(index, begun), done(index, { ...item, ...end, status: "completed" }), done(index, listed)];
    },
);

const others = fc.constantFrom<EventsOf[]>(
  (index) => [done(index, { type: "compaction", id: `cmp_${index}`, encrypted_content: "c" })],
  (index) => {
    const program = { type: "program", id: `prg_${index}`, call_id: `pc_${index}`, code: "run()", fingerprint: "f" };
    const output = {
      type: "program_output",
      id: `pro_${index}`,
      call_id: `pc_${index}`,
      result: "1",
      status: "completed",
    };
    return [added(index, program), done(index, program), done(index, output)];
  },
  (index) => {
    const search = { type: "tool_search_call", id: `ts_${index}`, execution: "server", call_id: null };
    const call = { ...search, status: "completed", arguments: { paths: ["a"] } };
    const output = { type: "tool_search_output", id: `tso_${index}`, execution: "server", call_id: null };
    return [
      added(index, call),
      done(index, call),
      done(index, { ...output, status: "completed", tools: [{ type: "function", name: "look" }] }),
    ];
  },
);

const usage = fc
  .record({ input_tokens: fc.nat(900), output_tokens: fc.nat(900), cached: fc.nat(90), reasoning: fc.nat(90) })
  .map(({ input_tokens, output_tokens, cached, reasoning }) => ({
    input_tokens: input_tokens + cached,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output_tokens + reasoning,
    output_tokens_details: { reasoning_tokens: reasoning },
  }));

const failed = (code: string, message: string) => ({ type: "response.failed", response: { error: { code, message } } });

const end = fc.oneof(
  {
    weight: 5,
    arbitrary: usage.map((usage): Event[] => [
      { type: "response.completed", response: { object: "response", output: [], status: "completed", usage } },
    ]),
  },
  fc
    .tuple(usage, fc.constantFrom("max_output_tokens", "content_filter"))
    .map(([usage, reason]): Event[] => [
      { type: "response.incomplete", response: { usage, incomplete_details: { reason } } },
    ]),
  fc.constantFrom<Event[][]>(
    [],
    [failed("server_error", "Something went wrong")],
    [failed("rate_limit_exceeded", "Please try again in 7s.")],
    [{ type: "error", code: "server_error", message: "Oops", param: null }],
  ),
);

/** Content that all providers of the format send alike. */
export const plain = fc.oneof(messageOf(fc.constant(false)), reasoning, functionCall);
export const any = fc.oneof(plain, messageOf(fc.constant(true)), webSearch, fileSearch, codeRun, image, mcp, others);

/** The events of an answer with such content, as the server numbers them. */
export function answers(items: fc.Arbitrary<EventsOf>): fc.Arbitrary<readonly object[]> {
  const all = fc.array(items, { minLength: 1, maxLength: 5 });
  // The package of xAI refuses fragments without an index.
  const sparse = items === plain ? fc.constant(false) : fc.boolean();
  return fc.tuple(all, end, fc.boolean(), sparse).map(([all, last, isPadded, isSparse]) => {
    const created = {
      type: "response.created",
      response: { id: "resp_1", object: "response", created_at: 1, model: "gpt-5-2026", output: [] },
    };
    const events: readonly Event[] = [created, ...all.flatMap((of, index) => of(index)), ...last];
    return events.map((event, sequence_number) => {
      const padded = isPadded && event.type.endsWith(".delta");
      // Some servers name the item of a fragment only by its id.
      const { output_index: _, ...sparse } = event;
      const sent = isSparse && /(text|refusal)\.delta$/.test(event.type) ? sparse : event;
      return { ...sent, sequence_number, ...(padded ? { obfuscation: "x".repeat(sequence_number % 7) } : {}) };
    });
  });
}
