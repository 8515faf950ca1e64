import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ControllerManagerConfig } from '#controllers';
import type { CliContext } from '../context.ts';
import { RECYCLER_FLAGS } from './recycler-flags.ts';

describe('flags of recycler pods', () => {
  let cwd: string;
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'flags-'));
  });
  afterEach(() => rm(cwd, { recursive: true }));
  const apply = (config: ControllerManagerConfig, flag: string, value: string) =>
    RECYCLER_FLAGS[flag]?.apply(config, value, { cwd } as CliContext) as ControllerManagerConfig;

  it('change one plugin, and leave the defaults of the other', async () => {
    await writeFile(join(cwd, 'pod.yaml'), '{ apiVersion: v1, kind: Pod, spec: { volumes: [{ name: v }], containers: [] } }');
    const timed = apply({}, 'pv-recycler-minimum-timeout-nfs', '7');
    const { options } = apply(timed, 'pv-recycler-pod-template-filepath-nfs', 'pod.yaml');
    expect(options?.pvRecyclers).toMatchObject({
      hostPath: { minimumTimeoutSeconds: 60, timeoutIncrementSeconds: 30 },
      nfs: { minimumTimeoutSeconds: 7, timeoutIncrementSeconds: 30, template: { spec: { volumes: [{ name: 'v' }] } } },
    });
  });

  it.each([
    ['{ apiVersion: v1, kind: Pod, spec: { containers: [] } }', 'pod specification does not contain any volume(s)'],
    ['{ apiVersion: v1, kind: Secret }', 'is not a Pod'],
    ['just text', 'is not a Pod'],
  ])('reject the template %s', async (text, message) => {
    await writeFile(join(cwd, 'pod.yaml'), text);
    expect(() => apply({}, 'pv-recycler-pod-template-filepath-hostpath', 'pod.yaml')).toThrow(message);
  });
});
