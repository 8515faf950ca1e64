import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CniError } from './cni-error.ts';
import { readCniRequest } from './cni-request.ts';

const env = { CNI_COMMAND: 'ADD', CNI_CONTAINERID: 'c1', CNI_NETNS: '/run/netns/x', CNI_IFNAME: 'eth0' };
const config = { cniVersion: '1.0.0', name: 'sampan', type: 'sampan-cni' };
const request = (parts: { env?: object; config?: unknown }) => {
  const variables = Object.entries({ ...env, ...parts.env }).map(([name, value]) => `${name}=${value}\0`);
  const text = typeof parts.config === 'string' ? parts.config : JSON.stringify({ ...config, ...(parts.config as object) });
  return `${variables.join('')}\0${text}`;
};

describe('a CNI request', () => {
  it('carries host ports, bandwidth and the names of the pod', () => {
    const runtimeConfig = {
      portMappings: [{ hostPort: 80, containerPort: 8080, protocol: 'TCP', hostIP: '0.0.0.0' }],
      bandwidth: { ingressRate: 1e6 },
    };
    const read = readCniRequest(request({ env: { CNI_ARGS: 'K8S_POD_NAME=a;K8S_POD_NAMESPACE=b' }, config: { runtimeConfig } }));
    expect(read.portMappings).toEqual([{ hostPort: 80, containerPort: 8080, protocol: 'tcp' }]);
    expect(read.bandwidth).toEqual({ ingressRate: 1e6 });
    expect(read.args.get('K8S_POD_NAMESPACE')).toBe('b');
  });

  it('is read as containerd writes it, and can always be deleted', () => {
    const portMappings = [{ HostPort: 80, ContainerPort: 8080, Protocol: 'udp', HostIP: '' }];
    const runtimeConfig = { portMappings, bandwidth: { IngressRate: 5, EgressRate: 6 } };
    const read = readCniRequest(request({ config: { runtimeConfig } }));
    expect(read.portMappings).toEqual([{ hostPort: 80, containerPort: 8080, protocol: 'udp' }]);
    expect(read.bandwidth).toEqual({ ingressRate: 5, egressRate: 6 });
    expect(readCniRequest(request({ env: { CNI_COMMAND: 'DEL' }, config: { runtimeConfig: { portMappings: 7 } } })).portMappings).toEqual(
      [],
    );
  });

  const faults: [string, Parameters<typeof request>[0], number][] = [
    ['a configuration that is no JSON', { config: '{' }, 6],
    ['a configuration that is a list', { config: '[]' }, 6],
    ['an unknown version', { config: { cniVersion: '9.0.0' } }, 1],
    ['an unknown command', { env: { CNI_COMMAND: 'PAINT' } }, 4],
    ['no network namespace', { env: { CNI_NETNS: '' } }, 4],
    ['a network namespace with white space', { env: { CNI_NETNS: '/run/x\nlink del eth0' } }, 4],
    ['an interface name that is too long', { env: { CNI_IFNAME: 'x'.repeat(16) } }, 4],
    ['a container id with a slash', { env: { CNI_CONTAINERID: '../x' } }, 4],
    ['arguments that are no pairs', { env: { CNI_ARGS: 'x' } }, 4],
    ['a port above 65535', { config: { runtimeConfig: { portMappings: [{ hostPort: 70_000, containerPort: 1 }] } } }, 7],
    ['a rate below nothing', { config: { runtimeConfig: { bandwidth: { ingressRate: -1 } } } }, 7],
  ];
  it.each(faults)('is refused with %s', (_name, parts, code) => {
    expect(() => readCniRequest(request(parts))).toThrow(expect.objectContaining({ code }));
  });

  it('is refused by an error of the specification, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.jsonValue().map((value) => request({ config: JSON.stringify(value) })),
          fc.tuple(fc.string(), fc.string()).map(([name, value]) => request({ env: { [name]: value } })),
        ),
        (line) => {
          try {
            readCniRequest(line);
          } catch (error) {
            expect(error).toBeInstanceOf(CniError);
          }
        },
      ),
    );
  });
});
