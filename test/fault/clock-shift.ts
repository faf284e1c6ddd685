// Preloaded into the processes of a runner (`--import`) whose wall clock is to be wrong by FAULT_CLOCK_SHIFT_MS. The monotonic clock,
// by which leases are counted, stays right, as it does on a machine whose date is wrong.
const shiftMs = Number(process.env['FAULT_CLOCK_SHIFT_MS'] ?? 0);
const RightDate = Date;
const now = (): number => RightDate.now() + shiftMs;

globalThis.Date = new Proxy(RightDate, {
  construct: (target, given: unknown[], newTarget) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget) as Date,
  apply: () => new RightDate(now()).toString(),
  get: (target, name, receiver) => (name === 'now' ? now : (Reflect.get(target, name, receiver) as unknown)),
});
