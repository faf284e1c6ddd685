// Metrics of a step that tell of the wall clock and of cores: they differ from run to run where nothing else does.
type Metrics = Readonly<Record<string, number | null>>;

export const withoutClock = (metrics: Metrics): Record<string, number | null> =>
  Object.fromEntries(Object.entries(metrics).filter(([key]) => !/^time_|_per_s$|_core_s$/.test(key)));
