import { expect, it } from 'vitest';
import { core } from '#api';
import type { ContainerConfig } from '../../../src/kubelet/cri/runtime.ts';
import { openNodeBench } from './node-bench.ts';

it('the runtime gets command and args with $(VAR) expanded from its environment, fields of the pod and config maps', async () => {
  await using bench = await openNodeBench();
  const { client, runtime } = bench;
  await client.of(core.ConfigMap).create({ metadata: { name: 'settings', namespace: 'default' }, data: { PORT: '5432' } });
  let config: Omit<ContainerConfig, 'image'> | undefined;
  const create = runtime.createContainer.bind(runtime);
  runtime.createContainer = (sandboxId, request) => {
    config = request.config;
    return create(sandboxId, request);
  };
  const container = {
    ...{ name: 'c', image: 'app:1', command: ['connect', '$(HOST)'], args: ['$(HOST):$(PORT)', '--name=$(POD)', '$$(HOST)', '$(NONE)'] },
    env: [
      { name: 'HOST', value: 'db' },
      { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ],
    envFrom: [{ configMapRef: { name: 'settings' } }],
  };
  await bench.create('p', { containers: [container] as never });
  await bench.clock.advance(5_000);
  expect(config?.command).toEqual(['connect', 'db']);
  expect(config?.args).toEqual(['db:5432', '--name=p', '$(HOST)', '$(NONE)']);
});
