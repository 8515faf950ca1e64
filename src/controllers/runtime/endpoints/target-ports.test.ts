import { expect, test } from 'vitest';
import type { core } from '#api';
import { TargetPorts } from './target-ports.ts';

const service = (...ports: object[]) => ({ metadata: { name: 's' }, spec: { ports } }) as unknown as core.Service;
const pod = (ports: object[], initPorts: object[] = []) => {
  const initContainers = [{ name: 'i', restartPolicy: 'Always', ports: initPorts }];
  return { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', ports }], initContainers } } as unknown as core.Pod;
};
const numbers = (of: core.Service) => new TargetPorts(of, (ports) => ports.map(({ port }) => port));

test('a number is the port itself, a name is that of a container or sidecar with the same protocol', () => {
  const targets = numbers(service({ targetPort: 80 }, { targetPort: 'web' }, { targetPort: 'dns', protocol: 'UDP' }));
  const web = { name: 'web', containerPort: 8080 };
  expect(targets.of(pod([web], [{ name: 'dns', protocol: 'UDP', containerPort: 53 }]))).toEqual([80, 8080, 53]);
  expect(
    targets.of(
      pod([
        { ...web, protocol: 'UDP' },
        { name: 'dns', containerPort: 53 },
      ]),
    ),
  ).toEqual([80]);
  expect(targets.of(pod([web, { ...web, containerPort: 9090 }]))).toEqual([80, 8080]);
});

test('pods whose named ports are the same share a result', () => {
  let computed = 0;
  const targets = new TargetPorts(service({ targetPort: 'web' }), (ports) => ++computed + ports.length);
  for (let i = 0; i < 10; i++) targets.of(pod([{ name: 'web', containerPort: 80 }]));
  expect(computed).toBe(1);
  targets.of(pod([{ name: 'web', containerPort: 81 }]));
  expect(computed).toBe(2);
});

test('named ports make no difference to a service of numbers', () => {
  let computed = 0;
  const targets = new TargetPorts(service({ targetPort: 80 }), () => ++computed);
  for (let i = 0; i < 10; i++) targets.of(pod([{ name: `port-${i}`, containerPort: i }]));
  expect(computed).toBe(1);
});
