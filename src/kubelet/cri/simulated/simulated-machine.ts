import type { MachineInfo, MachineInfoSource } from '../../node/machine-info.ts';

const GI = 1024 ** 3;

/** A machine of 8 processors, 32 GiB of memory and 100 GiB of disk. */
export function simulatedMachine(nodeName: string): MachineInfoSource {
  const id = idOf(nodeName);
  const info: MachineInfo = {
    ...{ cpus: 8, memoryBytes: 32 * GI, swapBytes: 0, storageBytes: 100 * GI },
    hugePages: [
      { sizeBytes: GI, count: 0 },
      { sizeBytes: 2 * 1024 ** 2, count: 0 },
    ],
    ...{ machineId: id, systemUuid: id, bootId: '', kernelVersion: '6.1.0', osImage: 'Sampan' },
    ...{ operatingSystem: 'linux', architecture: 'amd64', hasAppArmor: true },
  };
  return { read: async () => info };
}

/** Deterministic, like a machine id. */
function idOf(nodeName: string): string {
  let hash = 0x811c9dc5;
  let text = '';
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < nodeName.length; i++) hash = Math.imul(hash ^ nodeName.charCodeAt(i) ^ round, 0x01000193);
    text += (hash >>> 0).toString(16).padStart(8, '0');
  }
  return text;
}
