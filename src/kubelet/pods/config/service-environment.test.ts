import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { serviceEnvironment } from './service-environment.ts';

function service(namespace: string, name: string, clusterIP: string, ports: readonly object[] = [{ port: 80 }]): core.Service {
  return { metadata: { namespace, name }, spec: { clusterIP, ports } } as core.Service;
}

const SERVICES = [
  service('default', 'kubernetes', '10.96.0.1', [{ name: 'https', port: 443 }]),
  service('team', 'my-db', '10.96.0.7', [{ port: 5432 }, { name: 'metrics', port: 9187, protocol: 'UDP' }]),
  service('team', 'headless', 'None'),
  service('other', 'secret', '10.96.0.9'),
];

function variablesOf(namespace: string, spec: Partial<core.PodSpec> = {}): Readonly<Record<string, string>> {
  const source = {
    synced: Promise.resolve(),
    inNamespace: (name: string) => SERVICES.filter(({ metadata }) => metadata.namespace === name),
  };
  return Object.fromEntries(serviceEnvironment({ metadata: { namespace, name: 'p' }, spec } as core.Pod, source));
}

describe('the service variables of a pod', () => {
  it('name the services of its namespace and the API server', () => {
    expect(variablesOf('team')).toMatchObject({
      KUBERNETES_SERVICE_HOST: '10.96.0.1',
      KUBERNETES_SERVICE_PORT: '443',
      KUBERNETES_SERVICE_PORT_HTTPS: '443',
      MY_DB_SERVICE_HOST: '10.96.0.7',
      MY_DB_SERVICE_PORT: '5432',
      MY_DB_SERVICE_PORT_METRICS: '9187',
      MY_DB_PORT: 'tcp://10.96.0.7:5432',
      MY_DB_PORT_9187_UDP: 'udp://10.96.0.7:9187',
      MY_DB_PORT_9187_UDP_PROTO: 'udp',
      MY_DB_PORT_9187_UDP_PORT: '9187',
      MY_DB_PORT_9187_UDP_ADDR: '10.96.0.7',
    });
  });

  it('leave out headless services and other namespaces', () => {
    expect(Object.keys(variablesOf('team')).filter((name) => /^(HEADLESS|SECRET)/.test(name))).toEqual([]);
  });

  it('are those of the API server alone without service links', () => {
    const names = Object.keys(variablesOf('team', { enableServiceLinks: false }));
    expect(names.every((name) => name.startsWith('KUBERNETES_'))).toBe(true);
    expect(names).toContain('KUBERNETES_SERVICE_HOST');
  });
});
