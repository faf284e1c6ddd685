// What V8 says where the system gives it no memory for a typed array: nobody's fault but the moment's.
const allocationFailed = 'Array buffer allocation failed';

export const isOutOfMemory = (error: unknown): boolean =>
  (error instanceof Error ? error.message : String(error)) === allocationFailed;
