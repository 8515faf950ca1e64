import { expect, it } from 'vitest';
import type { core } from '#api';
import { type ContainerFacts, containerConfig } from './container-config.ts';

const pod = { metadata: { name: 'p', namespace: 'default', uid: 'u' }, spec: { containers: [] } } as unknown as core.Pod;
const FACTS: ContainerFacts = {
  ...{ attempt: 0, imageRef: 'sha256:1', specHash: 'h', resources: {}, securityContext: {} as ContainerFacts['securityContext'] },
  envs: [
    { name: 'HOST', value: 'db' },
    { name: 'PORT', value: '1' },
  ],
  additions: { envs: [{ name: 'PORT', value: '5432' }] },
};

it('$(VAR) in command and args is expanded, with the variables of hooks last', () => {
  const container = { name: 'c', image: 'app:1', command: ['connect', '$(HOST)'], args: ['$(HOST):$(PORT)', '$$(HOST)', '$(NONE)'] };
  const { command, args } = containerConfig(pod, container as core.Container, FACTS);
  expect(command).toEqual(['connect', 'db']);
  expect(args).toEqual(['db:5432', '$(HOST)', '$(NONE)']);
});
