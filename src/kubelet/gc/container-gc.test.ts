import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { silentLogger } from '#base';
import { CONTAINER_NAME, POD_UID } from '../pods/labels.ts';
import { ContainerGc } from './container-gc.ts';

test('logs are removed with their containers, and pod log directories with their pods', async () => {
  const pods = await mkdtemp(path.join(os.tmpdir(), 'container-gc-'));
  try {
    for (const [pod, names] of [
      ['ns_live_u', ['0.log', '0.log.20240102-030405.gz', '1.log', '2.log', '3.log', 'other']],
      ['ns_gone_v', ['0.log']],
    ] as const) {
      await mkdir(path.join(pods, pod, 'c'), { recursive: true });
      for (const name of names) await writeFile(path.join(pods, pod, 'c', name), '');
    }
    const container = (attempt: number, state: string) => ({
      ...{ id: `c${attempt}`, sandboxId: 's', state, createdAtMs: attempt, metadata: { name: 'c', attempt } },
      labels: { [POD_UID]: 'u', [CONTAINER_NAME]: 'c' },
    });
    const removed: string[] = [];
    const runtime = {
      listContainers: async () => [container(0, 'exited'), container(1, 'exited'), container(2, 'running')],
      listPodSandbox: async () => [],
      removeContainer: async (id: string) => void removed.push(id),
    } as never;
    const overview = { live: new Set(['u']), ended: new Set<string>() };
    await new ContainerGc({ runtime, logger: silentLogger, logs: { pods, containers: '' }, pods: () => overview }).collect();
    expect([removed, await readdir(pods)]).toEqual([['c0'], ['ns_live_u']]);
    // The log of a run that began after the runtime was listed stays.
    expect((await readdir(path.join(pods, 'ns_live_u/c'))).sort()).toEqual(['1.log', '2.log', '3.log', 'other']);
  } finally {
    await rm(pods, { recursive: true });
  }
});
