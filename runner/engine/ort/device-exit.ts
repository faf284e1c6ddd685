// Leaving a process while a device is in use. What WebGPU's libraries destroy when a process exits, they destroy in an order
// of their own: with a session alive, or a run going, that is a segmentation fault in place of the exit code. Nobody can
// wait for a device in an exit, so a process that still has one leaves without those destructors. The system takes back
// what a process had; all exit listeners have run by then.
import { ortLibrary } from './library.ts';

let live = 0;
let listening = false;

/** Counts a device as in use until the returned function is called. */
export function useDevice(): () => void {
  live += 1;
  if (!listening) process.on('exit', leaveQuickly);
  listening = true;
  return () => void (live -= 1);
}

/**
 * Has the C library call `_exit` with the process's status before any destructor: functions given to `on_exit` (glibc) are
 * called last come first served, and nothing comes after the exit listeners.
 */
function leaveQuickly(): void {
  if (live === 0 || process.platform !== 'linux') return;
  const { koffi } = ortLibrary();
  const libc = koffi.load('libc.so.6');
  const addressOf = libc.func('dlsym', 'void *', ['void *', 'str']);
  const onExit = libc.func('on_exit', 'int', ['void *', 'void *']);
  onExit(addressOf(null, '_exit'), null);
}
