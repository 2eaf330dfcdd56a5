/** A stream of these things, as `ReadableStream.from` makes one; the types of browsers do not know that. */
export function streamOf<T>(things: Iterable<T> | AsyncIterable<T>): ReadableStream<T> {
  const given = (async function* () {
    yield* things;
  })();
  return new ReadableStream<T>({
    async pull(controller) {
      const { value, done } = await given.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await given.return(undefined);
    },
  });
}
