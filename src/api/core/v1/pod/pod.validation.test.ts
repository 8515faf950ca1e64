import { describe, expect, test } from 'vitest';
import type { Container } from '../container/container.ts';
import type { Volume } from '../volume/volume.ts';
import { defaultPod } from './pod.defaults.ts';
import type { Pod } from './pod.ts';
import { podNameWarnings, validatePod } from './pod.validation.ts';
import type { PodSpec } from './pod-spec.ts';

const C: Container = { name: 'c', image: 'registry.example/app:1' };

function pod(spec: Partial<PodSpec>, metadata: Pod['metadata'] = { name: 'a', namespace: 'ns' }): Pod {
  return defaultPod({ metadata, spec: { containers: [C], ...spec } });
}

const errorsOf = (spec: Partial<PodSpec>, metadata?: Pod['metadata']) => validatePod(pod(spec, metadata)).map(String);
const container = (overrides: Partial<Container>) => errorsOf({ containers: [{ ...C, ...overrides }] });
const volumes = (...list: readonly object[]) => errorsOf({ volumes: list as readonly Volume[] });

test('a small pod is valid once it has its defaults', () => {
  expect(errorsOf({})).toEqual([]);
});

test('a pod without containers is invalid', () => {
  expect(errorsOf({ containers: [] })).toEqual(['spec.containers: Required value']);
});

describe('containers', () => {
  test.each<[string, Partial<Container>, readonly string[]]>([
    [
      'no name and no image',
      { name: '', image: '' },
      ['spec.containers[0].name: Required value', 'spec.containers[0].image: Required value'],
    ],
    [
      'spaces around the image',
      { image: ' x ' },
      ['spec.containers[0].image: Invalid value: " x ": must not have leading or trailing whitespace'],
    ],
    [
      'an unknown pull policy',
      { imagePullPolicy: 'Sometimes' },
      ['spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"'],
    ],
    [
      'bad ports',
      { ports: [{ containerPort: 0 }, { containerPort: 70000 }, { containerPort: 1, hostPort: -1 }] },
      [
        'spec.containers[0].ports[0].containerPort: Required value',
        'spec.containers[0].ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
        'spec.containers[0].ports[2].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive',
      ],
    ],
    [
      'a request above the limit',
      { resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } },
      ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
    ],
    [
      'a limit that is not the request of a resource that cannot be overcommitted',
      { resources: { limits: { 'example.com/gpu': '2' }, requests: { 'example.com/gpu': '1' } } },
      ['spec.containers[0].resources.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2'],
    ],
    [
      'huge pages that do not add up to pages',
      { resources: { limits: { 'hugepages-2Mi': '3Mi', memory: '1Gi' } } },
      [
        'spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
        'spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
      ],
    ],
    [
      'huge pages alone',
      { resources: { limits: { 'hugepages-2Mi': '2Mi' } } },
      ['spec.containers[0].resources: Forbidden: HugePages require cpu or memory'],
    ],
    [
      'an unknown resource',
      { resources: { limits: { sofa: '1' } } },
      [
        'spec.containers[0].resources.limits[sofa]: Invalid value: "sofa": must be a standard resource type or fully qualified',
        'spec.containers[0].resources.limits[sofa]: Invalid value: "sofa": must be a standard resource for containers',
        'spec.containers[0].resources.requests[sofa]: Invalid value: "sofa": must be a standard resource type or fully qualified',
        'spec.containers[0].resources.requests[sofa]: Invalid value: "sofa": must be a standard resource for containers',
      ],
    ],
    [
      'a claim that the pod does not have',
      { resources: { claims: [{ name: 'x' }] } },
      ['spec.containers[0].resources.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty'],
    ],
    [
      'a mount of no volume',
      { volumeMounts: [{ name: 'v', mountPath: '/v' }] },
      ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
    ],
    [
      'restart rules without a policy',
      { restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] },
      ['spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used'],
    ],
    [
      'two handlers in one hook',
      { lifecycle: { preStop: { exec: { command: ['a'] }, sleep: { seconds: 1 } } } },
      ['spec.containers[0].lifecycle.preStop.sleep: Forbidden: may not specify more than 1 handler type'],
    ],
    [
      'a liveness probe that must succeed twice',
      { livenessProbe: { tcpSocket: { port: 80 }, successThreshold: 2 } },
      ['spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1'],
    ],
    [
      'a privileged container that may not escalate',
      { securityContext: { privileged: true, allowPrivilegeEscalation: false } },
      [
        'spec.containers[0].securityContext: Invalid value: {"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
      ],
    ],
  ])('%s', (_, overrides, expected) => {
    expect(container(overrides)).toEqual(expected);
  });

  test.each<[string, object, readonly string[]]>([
    [
      'two sources at once',
      { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' }, secretKeyRef: { name: 's', key: 'k' } } },
      ['spec.containers[0].env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time'],
    ],
    ['a label of the pod', { name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } }, []],
    [
      'a subscript where none can be',
      { name: 'A', valueFrom: { fieldRef: { fieldPath: "spec.nodeName['x']" } } },
      [
        "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: \"spec.nodeName['x']\": error converting fieldPath: field label does not support subscript: spec.nodeName['x']",
      ],
    ],
    [
      'a divisor for cpu that makes no sense',
      { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1Mi' } } },
      [
        'spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource',
      ],
    ],
    [
      'a file in no volume',
      { name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } } },
      ['spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: "v"'],
    ],
  ])('a variable from %s', (_, variable, expected) => {
    expect(container({ env: [variable as never] })).toEqual(expected);
  });

  test('clash over a host port only with the same address and protocol', () => {
    const ports = (hostIP: string) => [{ containerPort: 80, hostPort: 80, hostIP }];
    const two = (a: string, b: string) =>
      errorsOf({
        containers: [
          { ...C, ports: ports(a) },
          { ...C, name: 'd', ports: ports(b) },
        ],
      });
    expect(two('10.0.0.1', '10.0.0.2')).toEqual([]);
    expect(two('', '')).toEqual(['spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//80"']);
  });

  test('that run once have no probes, those that stay have', () => {
    const init = (restartPolicy?: string): Container => ({
      ...C,
      name: 'i',
      ...(restartPolicy && { restartPolicy }),
      startupProbe: { exec: { command: ['x'] } },
    });
    expect(errorsOf({ initContainers: [init()] })).toEqual([
      'spec.initContainers[0].startupProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
    ]);
    expect(errorsOf({ initContainers: [init('Always')] })).toEqual([]);
  });

  test('that are ephemeral come by their subresource only', () => {
    const ephemeral = { name: 'e', image: 'x', ports: [{ containerPort: 1 }], lifecycle: {}, resources: {}, targetContainerName: 'z' };
    expect(errorsOf({ ephemeralContainers: [ephemeral] })).toEqual([
      'spec.ephemeralContainers[0].targetContainerName: Not found: "z"',
      'spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container',
      'spec.ephemeralContainers[0].lifecycle: Forbidden: cannot be set for an Ephemeral Container',
      'spec.ephemeralContainers: Forbidden: cannot be set on create',
    ]);
  });
});

describe('volumes', () => {
  test.each<[string, object, readonly string[]]>([
    ['nothing but a name', { name: 'v' }, []],
    [
      'two sources',
      { name: 'v', emptyDir: {}, configMap: { name: 'x' } },
      ['spec.volumes[0].configMap: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      'a path that climbs',
      { name: 'v', hostPath: { path: '/a/../b' } },
      ['spec.volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain \'..\''],
    ],
    [
      'a mode out of range and an absolute key path',
      { name: 'v', secret: { secretName: 's', defaultMode: 0o1000, items: [{ key: 'k', path: '/p' }] } },
      [
        'spec.volumes[0].secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive',
        'spec.volumes[0].secret.items[0].path: Invalid value: "/p": must be a relative path',
      ],
    ],
    [
      'files that clash',
      {
        name: 'v',
        projected: {
          sources: [
            { secret: { name: 's', items: [{ key: 'a', path: 'p' }] } },
            { configMap: { name: 'c', items: [{ key: 'a', path: 'p' }] } },
          ],
        },
      },
      ['spec.volumes[0].projected: Invalid value: "c": conflicting duplicate paths'],
    ],
    [
      'a token without an account',
      { name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 60 } }] } },
      [
        'spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
        'spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
      ],
    ],
    [
      'a pod certificate without files',
      {
        name: 'v',
        projected: { sources: [{ podCertificate: { signerName: 'example.com/s', keyType: 'DSA', maxExpirationSeconds: 60 } }] },
      },
      [
        'spec.volumes[0].projected.sources[0].podCertificate.keyType: Unsupported value: "DSA": supported values: "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"',
        'spec.volumes[0].projected.sources[0].podCertificate.maxExpirationSeconds: Invalid value: 60: if provided, maxExpirationSeconds must be >= 3600',
        'spec.volumes[0].projected.sources[0].podCertificate: Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath',
      ],
    ],
    [
      'an odd iSCSI name',
      { name: 'v', iscsi: { targetPortal: '1.2.3.4', iqn: 'xyz', lun: 300 } },
      [
        'spec.volumes[0].iscsi.iqn: Invalid value: "xyz": must be valid format starting with iqn, eui, or naa',
        'spec.volumes[0].iscsi.lun: Invalid value: 300: must be between 0 and 255, inclusive',
      ],
    ],
    [
      'a claim template with a name',
      {
        name: 'v',
        ephemeral: {
          volumeClaimTemplate: {
            metadata: { name: 'x' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        },
      },
      ['spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set'],
    ],
  ])('with %s', (_, volume, expected) => {
    expect(volumes(volume)).toEqual(expected);
  });

  test('of one name are duplicates', () => {
    expect(volumes({ name: 'v' }, { name: 'v' })).toEqual(['spec.volumes[1].name: Duplicate value: "v"']);
  });
});

describe('the pod as a whole', () => {
  test.each<[string, Partial<PodSpec>, readonly string[]]>([
    [
      'a deadline of zero',
      { activeDeadlineSeconds: 0 },
      ['spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive'],
    ],
    [
      'a node while gates are closed',
      { nodeName: 'n', schedulingGates: [{ name: 'example.com/g' }] },
      ['spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared'],
    ],
    [
      'processes shared twice',
      { hostPID: true, shareProcessNamespace: true },
      ['spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled'],
    ],
    [
      'a toleration of everything that is not Exists',
      { tolerations: [{ operator: 'Equal', value: 'x' }] },
      [
        'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ],
    ],
    [
      'a constraint twice',
      {
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
          { maxSkew: 0, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
        ],
      },
      [
        'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"',
        'spec.topologySpreadConstraints[1].maxSkew: Invalid value: 0: must be greater than zero',
      ],
    ],
    [
      'an affinity without a topology',
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: '', labelSelector: {} }] } } },
      [
        'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty',
        'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must be non-empty',
        "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    ],
    [
      'Linux settings on Windows',
      {
        os: { name: 'windows' },
        hostPID: true,
        securityContext: { fsGroup: 1 },
        containers: [{ ...C, securityContext: { privileged: true } }],
      },
      [
        'spec.hostPID: Forbidden: cannot be set for a windows pod',
        'spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod',
        'spec.containers[0].securityContext.privileged: Forbidden: cannot be set for a windows pod',
      ],
    ],
    [
      'a sysctl of the network on the network of the host',
      { hostNetwork: true, securityContext: { sysctls: [{ name: 'net.ipv4.x', value: '1' }] } },
      ['spec.securityContext.sysctls[0].name: Invalid value: "net.ipv4.x": may not be specified when \'hostNetwork\' is true'],
    ],
    [
      'user namespaces beside namespaces of the host',
      { hostUsers: false, hostIPC: true },
      ['spec.HostIPC: Forbidden: when `hostUsers` is false'],
    ],
    [
      'an address with leading zeros',
      { hostAliases: [{ ip: '10.0.0.01' }] },
      ['spec.hostAliases[0].ip: Invalid value: "10.0.0.01": must not have leading 0s'],
    ],
    [
      'a claim by two names',
      { resourceClaims: [{ name: 'a', resourceClaimName: 'x', resourceClaimTemplateName: 'y' }] },
      [
        'spec.resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":"x","ResourceClaimTemplateName":"y"}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
      ],
    ],
    [
      'less for the pod than for its containers',
      { resources: { requests: { cpu: '1' } }, containers: [{ ...C, resources: { requests: { cpu: '2' } } }] },
      ['spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2'],
    ],
  ])('%s', (_, spec, expected) => {
    expect(errorsOf(spec)).toEqual(expected);
  });

  test.each([
    ['controller.kubernetes.io/pod-deletion-cost', 'cheap', 'must be a 32bit integer'],
    ['controller.kubernetes.io/pod-deletion-cost', '99999999999', 'must be a 32bit integer'],
    ['container.apparmor.security.beta.kubernetes.io/x', 'unconfined', 'container not found'],
    ['kubernetes.io/config.mirror', 'x', 'must set spec.nodeName if mirror pod annotation is set'],
  ])('is held to what annotation %s=%s means', (key, value, detail) => {
    const [error] = errorsOf({}, { name: 'a', namespace: 'ns', annotations: { [key]: value } });
    expect(error).toContain(`metadata.annotations[${key}]: Invalid value`);
    expect(error).toContain(detail);
  });

  test('names that are no host names draw a warning, not an error', () => {
    expect(errorsOf({}, { name: 'a.b', namespace: 'ns' })).toEqual([]);
    expect(podNameWarnings('a.b')).toEqual([
      "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    ]);
  });
});
