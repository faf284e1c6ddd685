// Which Vulkan loader and which drivers a run takes: the system's where it has them, else those of the bundle. Not the
// choice of a device: WebGPU takes the fastest that the drivers offer.
import { existsSync, globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type * as koffiModule from 'koffi';

/** The variables that the loader and the engine read. */
export interface VulkanChoice {
  readonly MILLRACE_VULKAN_LOADER: string;
  readonly VK_DRIVER_FILES: string;
  /** The name of the former that older loaders know. */
  readonly VK_ICD_FILENAMES: string;
}

const systemLoader = 'libvulkan.so.1';

function loads(library: string): boolean {
  try {
    (createRequire(import.meta.url)('koffi') as typeof koffiModule).load(library);
    return true;
  } catch {
    return false;
  }
}

/** Where Linux distributions, containers and users put the files that name drivers. */
function driverFolders(env: NodeJS.ProcessEnv): string[] {
  const home = env['HOME'] ?? homedir();
  const configured = (env['XDG_CONFIG_DIRS'] ?? '/etc/xdg').split(':');
  const shared = (env['XDG_DATA_DIRS'] ?? '/usr/local/share:/usr/share').split(':');
  const bases = [
    env['XDG_CONFIG_HOME'] ?? join(home, '.config'),
    ...configured,
    '/etc',
    env['XDG_DATA_HOME'] ?? join(home, '.local/share'),
    ...shared,
  ];
  return [...new Set(bases.map((base) => join(base, 'vulkan/icd.d')))];
}

/** Files that name drivers: those of the environment, else the system's. */
export function driverFiles(env: NodeJS.ProcessEnv, folders = driverFolders(env)): string[] {
  const named = env['VK_DRIVER_FILES'] ?? env['VK_ICD_FILENAMES'];
  if (named !== undefined && named !== '') return named.split(':');
  const found = folders.flatMap((folder) => globSync(join(folder, '*.json')).sort());
  // Containers often have NVIDIA's driver without the file that names it.
  if (found.length === 0 && existsSync('/proc/driver/nvidia/version'))
    return [join(import.meta.dirname, 'nvidia-icd.json')];
  return found;
}

/** `vulkan` is the bundle's folder of the loader and of SwiftShader. */
export function chooseVulkan(
  env: NodeJS.ProcessEnv,
  { vulkan, software }: { vulkan: string; software: boolean },
): VulkanChoice {
  const bundled = join(vulkan, systemLoader);
  const drivers = software ? [join(vulkan, 'vk_swiftshader_icd.json')] : driverFiles(env);
  const loader = software || !loads(systemLoader) ? bundled : systemLoader;
  const files = drivers.join(':') || '/nowhere';
  return {
    MILLRACE_VULKAN_LOADER: env['MILLRACE_VULKAN_LOADER'] || loader,
    VK_DRIVER_FILES: files,
    VK_ICD_FILENAMES: files,
  };
}
