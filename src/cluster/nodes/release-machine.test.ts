import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cgroupRootOf } from './choose-runtime.ts';
import { releaseMachine } from './release-machine.ts';

describe.skipIf(process.platform !== 'linux')('releaseMachine', () => {
  let cgroups: string;
  let programs: string[];
  const dataDirectory = '/nonexistent/data';
  const name = cgroupRootOf(dataDirectory).slice(1);
  const release = () =>
    releaseMachine(dataDirectory, { cgroups, run: async (program, args) => void programs.push([program, ...args].join(' ')) });

  beforeEach(async () => {
    programs = [];
    cgroups = await mkdtemp(path.join(os.tmpdir(), 'cgroups-'));
  });
  afterEach(() => rm(cgroups, { recursive: true }));

  it('removes the cgroups of the node in every hierarchy, and no others', async () => {
    await mkdir(path.join(cgroups, 'memory', name, 'kubepods/besteffort'), { recursive: true });
    await mkdir(path.join(cgroups, name), { recursive: true });
    await mkdir(path.join(cgroups, 'memory/other'));
    await release();
    expect(programs).toEqual([]);
    expect([name, `memory/${name}`, 'memory/other'].map((directory) => existsSync(path.join(cgroups, directory)))).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('has systemd stop the slice of the node, and removes what it leaves', async () => {
    const slice = `${name.replaceAll('-', '_')}.slice`;
    await mkdir(path.join(cgroups, 'cpuset', slice, 'kubepods.slice'), { recursive: true });
    await release();
    expect(programs).toEqual([`systemctl stop ${slice}`]);
    expect(existsSync(path.join(cgroups, 'cpuset', slice))).toBe(false);
  });
});
