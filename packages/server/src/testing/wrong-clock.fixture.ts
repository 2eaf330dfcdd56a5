// Loaded before a program (`--import`): its clock is wrong by CLOCK_IS_WRONG_BY milliseconds, as that of a machine whose time nobody set.
// What measures how long something takes goes on as it does there.
const wrongBy = Number(process.env.CLOCK_IS_WRONG_BY ?? 0);
const RightDate = Date;

globalThis.Date = new Proxy(RightDate, {
  construct: (_target, values: ConstructorParameters<typeof Date>, made) =>
    Reflect.construct(RightDate, (values as unknown[]).length === 0 ? [RightDate.now() + wrongBy] : values, made),
  apply: () => new Date().toString(),
  get: (target, name) => (name === "now" ? () => RightDate.now() + wrongBy : Reflect.get(target, name)),
});
