// The Vulkan devices of this machine, asked of the loader itself: what `vulkaninfo` would say, where it is not installed.
// WebGPU tells no name through ONNX Runtime, and a figure without the name of its device is worth nothing.
import { createRequire } from 'node:module';
import type * as koffiModule from 'koffi';

export interface VulkanDevice {
  readonly name: string;
  readonly type: 'other' | 'integrated' | 'discrete' | 'virtual' | 'cpu';
  /** Hexadecimal PCI numbers. */
  readonly vendor: string;
  readonly device: string;
  /** What the driver says in its own coding of versions. */
  readonly driverVersion: number;
  readonly apiVersion: string;
}

const types = ['other', 'integrated', 'discrete', 'virtual', 'cpu'] as const;

// VkPhysicalDeviceProperties: five words, the name, and what is not read here.
const nameAt = 20;
const nameBytes = 256;
const propertiesBytes = 4096;
const handleBytes = 8;

/** Fields of VkPhysicalDeviceProperties that stand before the limits. */
export function parseProperties(bytes: Buffer): VulkanDevice {
  const [api, driverVersion, vendor, device, type] = [0, 4, 8, 12, 16].map((at) =>
    bytes.readUInt32LE(at),
  ) as [number, number, number, number, number];
  const name = bytes.subarray(nameAt, nameAt + nameBytes);
  return {
    name: name.subarray(0, name.indexOf(0)).toString('utf8'),
    type: types[type] ?? 'other',
    vendor: vendor.toString(16).padStart(4, '0'),
    device: device.toString(16).padStart(4, '0'),
    driverVersion,
    apiVersion: `${(api >>> 22) & 0x7f}.${(api >>> 12) & 0x3ff}.${api & 0xfff}`,
  };
}

/** The order in which a device is asked for where high performance is: what computes is taken for the first. */
const rank: readonly VulkanDevice['type'][] = ['discrete', 'integrated', 'virtual', 'other', 'cpu'];

/**
 * All devices of the drivers that the loader finds (VK_DRIVER_FILES or the system's folders), the fastest kind first; none
 * where no driver starts. Throws where `loader` does not load.
 */
export function vulkanDevices(
  loader = process.env['MILLRACE_VULKAN_LOADER'] || 'libvulkan.so.1',
): VulkanDevice[] {
  const koffi = createRequire(import.meta.url)('koffi') as typeof koffiModule;
  const library = koffi.load(loader);
  const createInstance = library.func('vkCreateInstance', 'int', ['void *', 'void *', 'void *']);
  const destroyInstance = library.func('vkDestroyInstance', 'void', ['void *', 'void *']);
  const enumerate = library.func('vkEnumeratePhysicalDevices', 'int', ['void *', 'void *', 'void *']);
  const properties = library.func('vkGetPhysicalDeviceProperties', 'void', ['void *', 'void *']);
  const createInfo = Buffer.alloc(64); // VkInstanceCreateInfo without layers and extensions is its type, 1
  createInfo.writeUInt32LE(1);
  const handle = Buffer.alloc(handleBytes);
  if (createInstance(createInfo, null, handle) !== 0) return [];
  const instance = handle.readBigUInt64LE();
  try {
    const count = Buffer.alloc(4);
    if (enumerate(instance, count, null) !== 0) return [];
    const devices = Buffer.alloc(handleBytes * count.readUInt32LE());
    if (enumerate(instance, count, devices) !== 0) return [];
    return Array.from({ length: count.readUInt32LE() }, (_, i) => {
      const bytes = Buffer.alloc(propertiesBytes);
      properties(devices.readBigUInt64LE(handleBytes * i), bytes);
      return parseProperties(bytes);
    }).sort((a, b) => rank.indexOf(a.type) - rank.indexOf(b.type));
  } finally {
    destroyInstance(instance, null);
  }
}
