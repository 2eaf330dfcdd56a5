/** Like `ReadableStream.from`, which the types for browsers lack. */
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
