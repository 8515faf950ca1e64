import { mkdir, readdir, readFile, statfs } from 'node:fs/promises';
import { arch, availableParallelism, release } from 'node:os';
import type { MachineInfo, MachineInfoSource } from './machine-info.ts';

const ARCHITECTURES = new Map([
  ['x64', 'amd64'],
  ['arm64', 'arm64'],
  ['arm', 'arm'],
  ['ia32', '386'],
  ['ppc64', 'ppc64le'],
  ['s390x', 's390x'],
  ['riscv64', 'riscv64'],
]);

/** Reads /proc, /sys and /etc. */
export function linuxMachine(rootDir: string): MachineInfoSource {
  return { read: () => readMachine(rootDir) };
}

async function readMachine(rootDir: string): Promise<MachineInfo> {
  const memory = await readFile('/proc/meminfo', 'utf8');
  // On a new machine the kubelet's directory is not there yet.
  await mkdir(rootDir, { recursive: true, mode: 0o750 });
  const { blocks, bsize } = await statfs(rootDir);
  const machineId = await firstOf(['/etc/machine-id', '/var/lib/dbus/machine-id']);
  return {
    cpus: availableParallelism(),
    memoryBytes: kibibytes(memory, 'MemTotal'),
    swapBytes: kibibytes(memory, 'SwapTotal'),
    hugePages: await readHugePages(),
    storageBytes: blocks * bsize,
    machineId,
    systemUuid: (await firstOf(['/sys/class/dmi/id/product_uuid', '/proc/device-tree/vm,uuid'])) || machineId,
    bootId: await firstOf(['/proc/sys/kernel/random/boot_id']),
    kernelVersion: release(),
    osImage: osImage(await firstOf(['/etc/os-release', '/usr/lib/os-release'])),
    operatingSystem: 'linux',
    architecture: ARCHITECTURES.get(arch()) ?? arch(),
    hasAppArmor: (await firstOf(['/sys/module/apparmor/parameters/enabled'])).startsWith('Y'),
  };
}

/** The content of the first readable file; empty if there is none. */
async function firstOf(paths: readonly string[]): Promise<string> {
  for (const path of paths) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (text.trim() !== '') return text.trim();
  }
  return '';
}

function kibibytes(meminfo: string, name: string): number {
  const line = meminfo.split('\n').find((candidate) => candidate.startsWith(`${name}:`)) ?? '';
  return Number(line.slice(name.length + 1).replace('kB', '')) * 1024;
}

function osImage(release: string): string {
  const key = 'PRETTY_NAME=';
  const line = release.split('\n').find((candidate) => candidate.startsWith(key));
  return line === undefined ? 'Linux' : line.slice(key.length).replace(/^["']|["']$/g, '');
}

async function readHugePages(): Promise<MachineInfo['hugePages']> {
  const base = '/sys/kernel/mm/hugepages';
  const names = await readdir(base).catch(() => []);
  const pages: { sizeBytes: number; count: number }[] = [];
  for (const name of names) {
    const [, size] = /^hugepages-(\d+)kB$/.exec(name) ?? [];
    const count = Number(await firstOf([`${base}/${name}/nr_hugepages`]));
    if (size !== undefined) pages.push({ sizeBytes: Number(size) * 1024, count: Number.isFinite(count) ? count : 0 });
  }
  return pages;
}
