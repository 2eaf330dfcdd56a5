// Loaded before a program (`--import`): shifts its clock by CLOCK_IS_WRONG_BY milliseconds, like a machine with a wrong time.
// Measured durations stay correct, as on such a machine.
const wrongBy = Number(process.env.CLOCK_IS_WRONG_BY ?? 0);
const RightDate = Date;

globalThis.Date = new Proxy(RightDate, {
  construct: (_target, values: ConstructorParameters<typeof Date>, made) =>
    Reflect.construct(RightDate, (values as unknown[]).length === 0 ? [RightDate.now() + wrongBy] : values, made),
  apply: () => new Date().toString(),
  get: (target, name) => (name === "now" ? () => RightDate.now() + wrongBy : Reflect.get(target, name)),
});
