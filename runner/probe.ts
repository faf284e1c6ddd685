// The probe: forked by the supervisor before it registers, it makes a runtime with the provider that MILLRACE_ACCELERATOR
// names, says what came of it, and ends. What a driver does to a process happens here, not in the supervisor.
import { chooseOperands, precisionOf } from './engine/models/operand-choice.ts';
import { createRuntime } from './engine/ort/create.ts';
import type { Provider } from './engine/ort/runtime.ts';
import type { FromProbe } from './ipc.ts';

async function probe(): Promise<FromProbe> {
  const told: string[] = [];
  const tell = (message: string) => void told.push(message);
  try {
    const provider = process.env['MILLRACE_ACCELERATOR'] as Provider | 'auto';
    const runtime = createRuntime({ provider, tell, warn: tell });
    const { operands, instead } = await chooseOperands(runtime);
    if (instead !== undefined) tell(instead);
    runtime[Symbol.dispose]();
    return { type: 'found', provider: runtime.provider, precision: precisionOf(operands), told };
  } catch (error) {
    // Whatever it is, a setting can be to blame: MILLRACE_VULKAN_LOADER, a library that does not load.
    return { type: 'unavailable', message: (error as Error).message };
  }
}

process.send?.(await probe(), () => process.exit());
