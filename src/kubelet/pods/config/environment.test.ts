import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import type { Client } from '#client';
import { environment } from './environment.ts';

const SERVICE = { metadata: { namespace: 'team', name: 'db' }, spec: { clusterIP: '10.96.0.7', ports: [{ port: 5432 }] } } as core.Service;
const SIDECAR = { name: 'sidecar', resources: { limits: { memory: '64Mi' } } } as unknown as core.Container;

/** The variables of a container with this `env`, beside a sidecar and a service. */
async function variables(env: readonly core.EnvVar[]): Promise<Readonly<Record<string, string>>> {
  const container = { name: 'c', env, resources: { limits: { cpu: '1250m', memory: '1Gi' } } } as unknown as core.Container;
  const envs = await environment({
    pod: { metadata: { name: 'p', namespace: 'team' }, spec: { containers: [container, SIDECAR] } },
    ...{ container, podIps: ['10.244.0.2'], hostIps: ['192.0.2.1'], allocatable: {} },
    client: {} as Client,
    services: { synced: Promise.resolve(), inNamespace: (namespace) => (namespace === 'team' ? [SERVICE] : []) },
  });
  return Object.fromEntries(envs.map(({ name, value }) => [name, value]));
}

const resource = (name: string, resourceFieldRef: core.ResourceFieldSelector): core.EnvVar => ({ name, valueFrom: { resourceFieldRef } });

describe('the environment of a container', () => {
  it('has the services of its namespace', async () => {
    expect(await variables([])).toMatchObject({ DB_SERVICE_HOST: '10.96.0.7', DB_SERVICE_PORT: '5432' });
  });

  it('has its own variables instead of those of services', async () => {
    expect(await variables([{ name: 'DB_SERVICE_HOST', value: 'elsewhere' }])).toMatchObject({
      ...{ DB_SERVICE_HOST: 'elsewhere', DB_SERVICE_PORT: '5432' },
    });
  });

  it('has references to earlier variables and services expanded, and others as they are', async () => {
    const env = [
      { name: 'EARLY', value: '$(LATE)' },
      { name: 'LATE', value: 'late' },
      { name: 'URL', value: 'pg://$(DB_SERVICE_HOST):$(DB_SERVICE_PORT)/$(LATE)?$$(LATE)' },
    ];
    expect(await variables(env)).toMatchObject({ EARLY: '$(LATE)', URL: 'pg://10.96.0.7:5432/late?$(LATE)' });
  });

  it('has resources in units of the divisor, its own or those of the container that is named', async () => {
    const env = [
      resource('CPU', { resource: 'limits.cpu', divisor: '1m' }),
      resource('MEMORY', { resource: 'limits.memory', divisor: '1Mi' }),
      resource('SIDECAR', { resource: 'limits.memory', divisor: '1Mi', containerName: 'sidecar' }),
    ];
    expect(await variables(env)).toMatchObject({ CPU: '1250', MEMORY: '1024', SIDECAR: '64' });
  });
});
