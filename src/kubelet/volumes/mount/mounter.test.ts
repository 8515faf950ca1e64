import { describe, expect, it } from 'vitest';
import { ProgramError } from '#base';
import { hostMounter } from './mounter.ts';

const line = (path: string, fsType: string) => `36 35 0:32 / ${path} rw,relatime shared:1 - ${fsType} server:/x rw`;

/** A mount table, and umount(8) that hangs on servers that are gone unless it is forced. */
class Machine {
  readonly calls: string[] = [];
  #mounts = new Map<string, string>();
  #release: (() => void)[] = [];

  constructor(mounts: Readonly<Record<string, string>>) {
    this.#mounts = new Map(Object.entries(mounts));
  }

  get mounter() {
    return hostMounter({
      run: (program, args) => this.#run(program, args),
      mountInfo: async () => [...this.#mounts].map(([path, fsType]) => line(path, fsType)).join('\n'),
    });
  }

  giveUp(): void {
    for (const release of this.#release.splice(0)) release();
  }

  async #run(program: string, args: readonly string[]): Promise<string> {
    this.calls.push([program, ...args.filter((arg) => !['--no-canonicalize', '--no-mtab', '--'].includes(arg))].join(' '));
    if (program === 'mount' && args.includes('nfs')) await new Promise<void>((resolve) => this.#release.push(resolve));
    if (program !== 'umount') return '';
    for (const path of args.slice(args.indexOf('--') + 1)) {
      const isHung = this.#mounts.get(path)?.startsWith('nfs') === true && !args.includes('--force');
      if (isHung) throw new ProgramError('umount did not end within 60 seconds', 'umount', undefined);
      this.#mounts.delete(path);
    }
    return '';
  }
}

describe('mounts of a machine', () => {
  it('are unmounted by one program', async () => {
    const machine = new Machine({ '/a/b': 'ext4', '/a': 'ext4' });
    await machine.mounter.unmount('/a/b', '/a');
    expect(machine.calls).toEqual(['umount /a/b /a']);
  });

  it.each(['nfs', 'nfs4'])('of type %s are unmounted by force when their server is gone, in order', async (fsType) => {
    const machine = new Machine({ '/a/b': 'tmpfs', '/a': fsType });
    await machine.mounter.unmount('/a/b', '/a');
    expect(machine.calls).toEqual(['umount /a/b', 'umount /a', 'umount --internal-only --force /a']);
    expect(await machine.mounter.isMountPoint('/a')).toBe(false);
  });

  it('of servers that do not answer hold up no others', async () => {
    const machine = new Machine({});
    const { mounter } = machine;
    const dead = Array.from({ length: 8 }, (_, i) => mounter.mount({ source: 'gone:/', target: `/nfs-${i}`, fsType: 'nfs' }));
    await mounter.mount({ source: 'tmpfs', target: '/t', fsType: 'tmpfs' });
    expect(machine.calls.at(-1)).toBe('mount -t tmpfs tmpfs /t');
    for (let i = 0; i < 8; i++) {
      machine.giveUp();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(dead);
  });
});
